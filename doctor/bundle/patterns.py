"""What secrets, serial numbers, and prompts look like in arguments, files and logs.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`). Every quantifier is bounded, or runs over a class that
excludes what follows it, so that a search takes linear time.
"""

from __future__ import annotations

import re

MASK = "MASKED"
"""Stands for a secret: a word that needs no quotes in a shell, in JSON, YAML or a URL."""

STRONG_WORDS = (
    r"api[-_ ]?keys?|access[-_ ]?key(?:[-_ ]?id)?|secret(?:[-_ ]?access)?[-_ ]?key(?:[-_ ]?id)?|client[-_]?secret|secret(?:[-_]?(?:id|token|value|string))?|"
    r"passw(?:or)?d|passphrase|passwort|passcode|credentials?|private[-_ ]?key|encryption[-_ ]?key|signing[-_ ]?key|"
    r"master[-_ ]?key|account[-_ ]?key|storage[-_ ]?key|license[-_ ]?key|session[-_ ]?(?:id|key)|jsessionid|connection[-_ ]?string|密码|口令|密钥|令牌|访问密钥"
)
WEAK_WORDS = r"token|signature|webhook|jwt|(?<![A-Za-z])(?:pwd|pass|auth|sig|ak|sk|pat|otp|pin|salt|dsn)"
"""Words that name other things as well: their value must look like a secret."""
_QUOTED = (
    r"(?P<escape>\\{0,15})(?P<quote>[\"'])(?P<quoted>[^\"'\\\n]{0,4096}(?:(?!(?<!\\)(?P=escape)(?P=quote))[^\n]){0,4096}?)(?<!\\)(?P=escape)(?P=quote)"
)
KEYED = re.compile(
    rf"(?i)(?:(?P<strong>{STRONG_WORDS})|(?P<weak>{WEAK_WORDS}))"
    r"(?P<separator>\\{0,15}[\"']?\]?[ \t]{0,8}(?::=|=>|==?|:|：)[ \t]{0,8}|\\{0,15}[\"'],[ \t]{0,4}(?=\\{0,15}[\"']))"
    rf"(?:b?{_QUOTED}|(?P<list>[\[(][^\])\n]{{0,4096}}[\])])|(?P<bare>[^\s\"'\\,;&|)}}\]<>]{{1,4096}}))"
)
"""`name: value` in every notation: shell, JSON (escaped however often), YAML, ini, Python, and a pair of words in a list."""

# The names of command line options stand before a space.
OPTION = re.compile(
    rf"(?i)(?<![\w-])(?P<option>--?(?:[A-Za-z0-9]{{1,20}}-){{0,4}}(?:{STRONG_WORDS}|{WEAK_WORDS}))(?P<gap>[ \t]{{1,8}})"
    r"(?P<value>\\{0,15}\"[^\"\n]{0,4096}\"|\\{0,15}'[^'\n]{0,4096}'|[^\s\"'\\;&|)]{1,4096})"
)
NOT_SECRET_BEFORE = re.compile(
    r"(?i)(?<![A-Za-z])(?:eos|bos|pad|unk|mask|sep|cls|stop|next|per|image|video|audio|first|last|max|min|num|speech|think|start|end|special|prompt|"
    r"output|input|completion|context|draft|dummy|vision|begin|sot|eot|unexpected|invalid|unknown|added|each|this|time|s|ms|every|new|the|no)[-_ ]$"
)
"""What stands before "token" where it is one of a language model."""
HARMLESS = re.compile(
    r"(?i)none|null|nil|true|false|yes|no|on|off|auto|empty|default|required|missing|invalid|optional|disabled|enabled|not|is|-|\*+|"
    rf"{MASK}|<[^>]{{0,80}}>|\$\{{?\w{{1,80}}\}}?|\$\(.{{0,200}}|os\.environ.{{0,80}}|your[-_ ].{{0,80}}|x{{3,}}|\.{{3}}|%s|\{{\w{{0,40}}\}}"
)
"""Values that are no secrets: nothing, a switch, a placeholder."""

HEADERS = re.compile(
    r"(?i)(?P<head>\b(?:proxy-)?authorization\\{0,15}[\"']?\]?[ \t]{0,8}[:=,][ \t]{0,8}(?:b(?=[\"']))?\\{0,15}[\"']?(?:[ \t]{0,4}(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)[ \t]{1,4})?)"
    r"(?P<value>[^\s\"'\\]{1,8192}(?:,[ \t]{0,4}[^\s\"'\\]{1,2048}){0,12})"
    r"|(?P<head2>\b(?:set-)?cookie\\{0,15}[\"']?[ \t]{0,8}[:=,][ \t]{0,8}(?:b(?=[\"']))?\\{0,15}[\"']?)(?P<value2>[^\"'\\\n]{1,8192})"
    r"|(?P<head3>\b(?:bearer|basic)[ \t]{1,4})(?P<value3>[A-Za-z0-9._~+/=-]{16,8192})"
)
USERINFO = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]{0,30}:\\?/\\?/)(?P<info>[^\s/\\?#\"'<>@]{1,1024}(?:@[^\s/\\?#\"'<>@]{1,1024}){0,2})@(?=[\w\[])")
LOGINS = re.compile(
    r"(?i)(?P<head>\b(?:curl|wget|http)\b[^\n|;]{0,2000}?[ \t](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,200}:)(?P<value>[^\s\"']{1,1024})"
    r"|(?P<head2>\b(?:sshpass|docker[ \t]+login|podman[ \t]+login|nerdctl[ \t]+login|mysql(?:dump|admin)?|redis-cli|ipmitool|smbclient|unzip|7z|openssl)\b[^\n|;]{0,500}?[ \t]-(?:p|a|P|k)[ =]?)(?P<value2>[\"']?[^\s\"'-][^\s\"']{2,1024})"
    r"|(?P<head3>\b(?:requirepass|masterauth|identified[ \t]+by|login[ \t]+\S{1,200}[ \t]+password|-passin[ \t]+pass:|pass:)[ \t]{0,4}[\"']?)(?P<value3>[^\s\"']{3,1024})"
    r"|(?P<head4>(?:^|\n)[ \t]{0,8}(?:password|passwd)[ \t]{1,8})(?P<value4>[^\s\"':=]{3,1024})(?=[ \t]{0,8}(?:\n|$))"
    r"|(?P<head5>\becho[ \t]+)(?P<value5>[^\s|;&]{3,512})(?=[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]+-S|docker[ \t]+login|passwd|chpasswd|helm[ \t]+registry))"
)
TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{16,128}|api_org_[A-Za-z0-9]{16,128}|sk-[A-Za-z0-9_-]{12,256}|sk_(?:live|test)_[A-Za-z0-9]{12,128}|"
    r"gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_[A-Za-z0-9_]{16,255}|gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{16,128}|"
    r"(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,32}|LTAI[A-Za-z0-9]{12,40}|AKID[A-Za-z0-9]{12,60}|ALTAK[A-Za-z0-9-]{12,60}|HPUA[A-Z0-9]{12,40}|HST[A-Z0-9]{17,40}|"
    r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{10,255}|eyJ[A-Za-z0-9_-]{6,4096}\.[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{0,4096}){0,3}|AIza[A-Za-z0-9_-]{30,60}|ya29\.[A-Za-z0-9_-]{16,512}|"
    r"npm_[A-Za-z0-9]{30,60}|pypi-[A-Za-z0-9_-]{16,512}|dop_v1_[a-f0-9]{32,80}|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}|nvapi-[A-Za-z0-9_-]{16,128}|"
    r"r8_[A-Za-z0-9]{20,64}|gsk_[A-Za-z0-9]{20,80}|tvly-[A-Za-z0-9-]{16,64}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,64}|hvs\.[A-Za-z0-9_-]{16,256}|"
    r"ms-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|AGE-SECRET-KEY-1[A-Z0-9]{40,80}|glsa_[A-Za-z0-9_]{20,80}|lin_api_[A-Za-z0-9]{20,80}|"
    r"ntn_[A-Za-z0-9]{20,80}|shpat_[a-f0-9]{20,80}|bce-v3/[A-Za-z0-9/-]{16,200}|PMAK-[a-f0-9-]{20,100}|key-[0-9a-f]{32}|whsec_[A-Za-z0-9+/=]{16,128})(?![A-Za-z0-9])"
)
"""Tokens that show by their form who gave them out."""
PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{2,60}-----.{0,65536}?(?:-----END [A-Z0-9 ]{2,60}-----|\Z|(?=\n[ \t]{0,20}\n))", re.DOTALL)
SSH_KEY = re.compile(r"\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3}|sk-ssh-ed25519@openssh\.com)[ \t]+AAAA[A-Za-z0-9+/=]{16,4096}(?:[ \t]+[^\s\"']{1,200})?")

_TEXT = r"(?:\"(?:[^\"\\\n]|\\.){0,1000000}(?:\"|$)|'(?:[^'\\\n]|\\.){0,1000000}(?:'|$))"
PROMPTS = re.compile(
    rf"(?m)(?P<head>\b(?:prompt|output|outputs|generated_text|Prompt|Generated text|Output|completion|query|question|answer|response|reasoning_content|delta_text)[=:][ \t]{{0,4}}[fbru]?)(?P<text>{_TEXT})"
    r"|(?P<head2>\b(?:prompt_token_ids|output_token_ids|token_ids|new_token_ids|all_token_ids|prompt_tokens_ids|input_ids|input_tokens|prompt_logprobs)[\"']?[=:][ \t]{0,4})(?P<ids>[\[(][\d,\s]{1,4000000}(?:[\])]|\.{3}))"
)
"""vLLM's own lines of a request and its output, and what its examples print."""
JSON_TEXT = re.compile(
    r"(?P<head>(?P<escape>\\{0,15})(?P<quote>[\"'])(?:prompt|content|text|input|query|question|answer|completion|output_text|reasoning_content|reasoning|arguments|instructions|suffix|documents|image_url|audio_url|video_url|url|b64_json|user|system_prompt|negative_prompt|guided_regex)(?P=escape)(?P=quote)[ \t]{0,4}:[ \t]{0,4})"
    r"(?:(?P=escape)(?P=quote)(?P<text>(?:(?!(?<!\\)(?P=escape)(?P=quote))[^\n]){0,1000000})(?:(?P=escape)(?P=quote)|(?=\n|\Z))|\[[ \t]{0,4}(?P=escape)(?P=quote)(?P<texts>[^\n\]]{0,1000000})(?=\]|\n|\Z))"
)
"""Members of a request's or an answer's body. Applied only to lines that look like one (`BODY`)."""
BODY = re.compile(r"\\{0,15}[\"'](?:messages|prompt|choices|role|chat_template_kwargs|delta|documents|tools|tool_calls)\\{0,15}[\"'][ \t]{0,4}:")

LINE_OF_BODY = re.compile(r"[^\n]+")

SERIALS = re.compile(
    r"(?i)(?P<head>(?<![A-Za-z])(?:serial[ _-]?(?:number|no\.?)|(?:product|board|chassis|system|baseboard|card)[ _-]?serial(?:[ _-]?number)?|barcode|\bSN|machine[ _-]?id|asset[ _-]?tag|v?die[ _-]?id|ecid|"
    r"(?:npu|chip)[ _-]?uuid|序列号)\\{0,15}[\"']?[ \t]{0,40}[:=：|][ \t]{0,8}\\{0,15}[\"']?)(?P<value>[A-Za-z0-9][A-Za-z0-9._/-]{3,80}(?:[ \t][0-9A-F]{8}){0,7})"
)
UUID = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f])")
MAC = re.compile(r"(?<![0-9A-Fa-f:.-])(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})(?![0-9A-Fa-f:-])")
INFINIBAND = re.compile(r"(?<![0-9A-Fa-f:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7,19}(?![0-9A-Fa-f:])")
IF_INET6 = re.compile(r"(?m)^[0-9a-f]{32}(?= [0-9a-f]{2} [0-9a-f]{2} )")
IPV6 = re.compile(r"(?<![0-9A-Za-z:.])(?=[0-9A-Fa-f:]{0,39}:[0-9A-Fa-f:]{0,39}:)[0-9A-Fa-f:]{2,39}(?:\d{1,3}(?:\.\d{1,3}){3})?(?![0-9A-Za-z:])")
IPV4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)")
DASHED_IP = re.compile(r"(?<![A-Za-z0-9])ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?!\d)")
_PRODUCT = r"npu-smi|driver|firmware|cann|hdk|toolkit|kernels?|nnal|atb|mcu|bios|bmc|software|torch|torch[-_]npu|vllm|python|gcc|glibc|mindie|mindspore|opencv[\w-]{0,40}|nvidia[\w-]{0,40}|triton[\w-]{0,20}"
VERSION_BEFORE = re.compile(
    r"(?i)(?:\bversions?\\?[\"']?[ \t]{0,40}[:=：|]{0,2}[ \t]{0,40}\\?[\"']?(?:is[ \t]|of[ \t])?|\bver\.?[ \t]{0,2}[:=]?[ \t]{0,2}|\brelease[ \t]{0,2}[:=]?[ \t]{0,2}|版本(?:号|为|是)?[ \t]{0,4}[:：=]?[ \t]{0,4}|"
    r"(?<![A-Za-z])v|[=~!<>]=[ \t]?[\"']?|[<>][ \t]?)$"
)
"""Before a number of four parts: it is a version."""
PRODUCT_BEFORE = re.compile(rf"(?i)(?<![A-Za-z0-9])(?:{_PRODUCT})[\"']?[ \t]{{0,40}}[:=|/_-]?[ \t]{{0,40}}[\"']?$")
"""Before one of four parts that is in no private network: it is a version."""
VERSION_AFTER = re.compile(
    r"(?i)(?:\.dist-info|\.egg-info|[._-](?:linux|aarch64|x86_64|cp3|py3|py2|noarch|el\d|oe\d|h\d|rc\d|alpha|beta|post\d|dev\d|b\d|ky|bclinux|manylinux)|\.(?:run|whl|tar|zip|rpm|deb|so)\b|[-+]\d|(?:rc|alpha|beta|post|b)\d)"
)

EMAIL = re.compile(r"(?<![\w.+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
HOME = re.compile(r"(?P<head>/(?:home|Users|export/home|data/home|mnt/home)/|\\Users\\|~)(?P<name>[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63})")
USER_KEY = re.compile(
    r"(?i)(?P<head>(?<![A-Za-z])(?:user(?:name)?|login|logname|owner|acct|sudo_user|session opened for user|accepted (?:password|publickey) for|failed password for(?: invalid user)?|用户名?)\\{0,15}[\"']?[ \t]{0,4}(?:[:=：][ \t]{0,4}|[ \t])\\{0,15}[\"']?)(?P<name>[A-Za-z_][A-Za-z0-9_.-]{1,63})"
)
HOST_KEY = re.compile(
    r"(?i)(?P<head>(?<![A-Za-z])(?:host[-_ ]?name|node[-_ ]?name|nodename|pod[-_ ]?name|server[-_ ]?name|computer[-_ ]?name|主机名|节点名?)\\{0,15}[\"']?[ \t]{0,4}[:=：][ \t]{0,4}\\{0,15}[\"']?)(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{1,252})"
)
JOURNAL_HOST = re.compile(
    r"(?m)(?P<head>^(?:[A-Za-z0-9_.-]{1,40}[ \t]+\|[ \t])?(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?) )(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,252})(?= [\w.@/()-]{1,64}(?:\[\d{1,10}\])?: )"
)
PROMPT_HOST = re.compile(r"(?m)(?P<head>^[ \t]{0,8}(?:\([\w.-]{1,60}\) )?\[?)(?P<user>[a-z_][\w.-]{0,31})@(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,120})(?=[ :][^\n]{0,200}?[#$])")
URL_HOST = re.compile(r"(?P<head>\b[A-Za-z][A-Za-z0-9+.-]{0,30}:\\?/\\?/(?:MASKED@)?)(?P<name>[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?)")
SSH_HOST = re.compile(r"(?P<head>\b(?:ssh|scp|rsync|sftp)[ \t][^\n|;]{0,300}?[ \t]?)(?P<user>[A-Za-z_][\w.-]{0,63})@(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,252})")
FQDN = re.compile(
    r"(?<![\w./@-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}(?:com|cn|net|org|edu|gov|internal|intranet|corp|lan|localdomain|cluster\.local|svc)(?![\w-]|\.\w)"
)
PUBLIC_HOSTS = re.compile(
    r"(?i)(?:[\w-]+\.)*(?:localhost|example\.(?:com|org|net)|github\.com|githubusercontent\.com|gitee\.com|gitcode\.(?:com|net)|atomgit\.com|huggingface\.co|hf\.co|hf-mirror\.com|modelscope\.cn|"
    r"pypi\.org|pythonhosted\.org|python\.org|pytorch\.org|hiascend\.com|huaweicloud\.com|huawei\.com|openeuler\.org|vllm\.ai|quay\.io|docker\.(?:com|io)|ray\.io|readthedocs\.io|"
    r"tsinghua\.edu\.cn|aliyun\.com|ustc\.edu\.cn|ubuntu\.com|debian\.org|centos\.org|kernel\.org|gnu\.org|apache\.org|w3\.org|pydantic\.dev|openai\.com|stackoverflow\.com|nvidia\.com|schemastore\.org|json-schema\.org|daocloud\.io|kubernetes\.io|k8s\.io|google\.com|googleapis\.com|opensource\.org|conda\.io|anaconda\.(?:org|com)|wikipedia\.org)\.?"
)
"""Services that everyone uses: who talks to them says nothing about who it is."""
BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,200000}={0,2}(?![A-Za-z0-9+/_=-])")
# Each begins where a word does, so that a long one is gone over once.
PERCENT = re.compile(r"(?<![^\s\"'<>])[^\s\"'<>]{0,65536}%[0-9A-Fa-f]{2}[^\s\"'<>]{0,65536}")
JSON_ESCAPED = re.compile(r"(?<![^\s\"'])[^\s\"']{0,65536}\\u00[0-9A-Fa-f]{2}[^\s]{0,65536}")
HEX_ESCAPED = re.compile(r"(?<![!-~])[!-~]{0,65536}\\x[0-9A-Fa-f]{2}[!-~]{0,65536}")

NEAR_SECRETS = (
    "secret", "passw", "passp", "passc", "credential", "sessionid", "connection", "密码", "口令", "密钥", "令牌", "webhook", "jwt", "key_id", "key-id", "keyid", "keys",
    *(word + end for word in ("key", "token", "signature", "pwd", "pass", "auth", "sig", "ak", "sk", "pat", "otp", "pin", "salt", "dsn") for end in ("=", ":", "：", '"', "'", "\\", " ", "\t", "]")),
)  # fmt: skip
"""One of these stands (in lower case) in each line that `KEYED` or `OPTION` can match."""
NEAR_HEADERS = ("authorization", "cookie", "bearer", "basic ", "basic\t")
NEAR_LOGINS = (
    "curl", "wget", "http ", "sshpass", "login", "mysql", "redis-cli", "ipmitool", "smbclient", "unzip", "7z", "openssl", "requirepass", "masterauth",
    "identified", "pass:", "password ", "passwd ", "password\t", "passwd\t", "echo",
)  # fmt: skip
NEAR_TOKENS = (
    "hf_", "api_org_", "sk-", "sk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glsa_", "akia", "asia", "aroa", "aida", "ltai", "akid", "altak", "hpua", "hst", "xox",
    "xapp-", "eyj", "aiza", "ya29", "npm_", "pypi-", "dop_v1_", "sg.", "nvapi-", "r8_", "gsk_", "tvly-", "dckr_", "hvs.", "ms-", "age-secret", "lin_api_", "ntn_", "shpat_",
    "bce-v3", "pmak-", "key-", "whsec_",
)  # fmt: skip
NEAR_PROMPTS = ("prompt", "output", "token_ids", "generated", "input_ids", "input_tokens", "completion", "query", "question", "answer", "response", "reasoning_content", "delta_text")
NEAR_BODIES = ("messages", "prompt", "choices", "role", "chat_template_kwargs", "delta", "documents", "tool")
NEAR_SERIALS = ("serial", "barcode", "sn:", "sn ", "sn\t", "sn=", 'sn"', "machine", "asset", "die id", "die_id", "die-id", "dieid", "ecid", "uuid", "序列号")
NEAR_USERS = ("user", "login", "logname", "owner", "acct", " for ", "用户")
NEAR_HOSTS = (
    "hostname", "host_name", "host-name", "host name", "node_name", "node-name", "node name", "nodename", "pod_name", "pod-name", "pod name", "podname", "server_name",
    "server-name", "server name", "servername", "computer", "主机名", "节点",
)  # fmt: skip
NEAR_DOMAINS = (".com", ".cn", ".net", ".org", ".edu", ".gov", ".internal", ".intranet", ".corp", ".lan", ".svc", ".localdomain", "cluster.local")
NEAR_MAC = re.compile("[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-]")
