"""More than a hundred secrets of every kind, each in its own place: what a finished bundle must not hold, in any encoding."""

from __future__ import annotations

import base64
import json
import random
import string
from dataclasses import dataclass
from urllib.parse import quote

_CHANCE = random.Random(8)


def _letters(size: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_CHANCE.choice(alphabet) for _ in range(size))


@dataclass(frozen=True)
class Canary:
    """`text` is planted in `source`; `secret` is what must not come out. `source`: log, argv, variable, script, output, file."""

    kind: str
    secret: str
    text: str
    source: str = "log"


def _keyed() -> list[Canary]:
    found = []
    forms = (
        "{key}={value}", "{key}: {value}", '{key}="{value}"', "{key}='{value}'", '"{key}": "{value}"', "'{key}': '{value}'", '{{\\"{key}\\": \\"{value}\\"}}',
        '"{{\\\\\\"{key}\\\\\\": \\\\\\"{value}\\\\\\"}}"', "--{key} {value}", "--{key}={value}", "{key} => {value}", "?a=1&{key}={value}&b=2", "{key}: '{value}',", "{key}=['{value}', '{value}2']",
    )  # fmt: skip
    keys = ("api_key", "apiKey", "api-key", "password", "passwd", "DB_PASSWORD", "client_secret", "secret_key", "SECRET_ACCESS_KEY", "access_token", "auth_token", "hf_token", "private_key", "credential")
    for index, key in enumerate(keys):
        value = _letters(18)
        found.append(Canary(f"{key} as {forms[index]}", value, "INFO starting with " + forms[index].format(key=key, value=value)))
    for index, form in enumerate(forms):
        value = _letters(22)
        found.append(Canary(f"token as {form}", value, "DEBUG " + form.format(key=("token", "password", "api_key")[index % 3], value=value)))
    return found


def _formats() -> list[Canary]:
    upper = string.ascii_uppercase + string.digits
    values = {
        "hugging face": "hf_" + _letters(34), "openai": "sk-" + _letters(40), "openai project": "sk-proj-" + _letters(40), "github": "ghp_" + _letters(36), "github server": "ghs_" + _letters(36),
        "github fine": "github_pat_" + _letters(22) + "_" + _letters(40), "gitlab": "glpat-" + _letters(20), "aws id": "AKIA" + _letters(16, upper), "aws session": "ASIA" + _letters(16, upper),
        "aliyun": "LTAI" + _letters(20), "tencent": "AKID" + _letters(32), "baidu": "ALTAK-" + _letters(20), "huawei": "HPUA" + _letters(16, upper), "slack": "xoxb-" + _letters(12, string.digits) + "-" + _letters(24), "google": "AIza" + _letters(35),
        "npm": "npm_" + _letters(36), "pypi": "pypi-AgEIcHlwaS5vcmc" + _letters(60), "sendgrid": "SG." + _letters(22) + "." + _letters(43), "nvidia": "nvapi-" + _letters(40), "groq": "gsk_" + _letters(40),
        "docker": "dckr_pat_" + _letters(27), "vault": "hvs." + _letters(60), "modelscope": "ms-3b1f0c9e-7a2d-4e55-9c1b-0d2e4f6a8b1c",
        "jwt": "eyJhbGciOiJIUzI1NiJ9." + base64.urlsafe_b64encode(json.dumps({"sub": _letters(20)}).encode()).decode().rstrip("=") + "." + _letters(43),
    }  # fmt: skip
    return [Canary(f"{kind} token", value, f"INFO 11-30 09:38:38 [hub.py:12] using {value} for the download") for kind, value in values.items()]


def _encoded() -> list[Canary]:
    found = []
    secret = _letters(24)
    body = json.dumps({"auths": {"swr.example.internal": {"auth": base64.b64encode(f"admin:{secret}".encode()).decode()}}})
    found.append(Canary("docker auth", base64.b64encode(f"admin:{secret}".encode()).decode(), body))
    secret = _letters(24)
    found.append(Canary("base64 of JSON", secret, "payload " + base64.b64encode(json.dumps({"user": "x", "password": secret}).encode()).decode()))
    secret = _letters(24)
    found.append(Canary("base64 of base64", secret, "payload " + base64.b64encode(base64.b64encode(f"api_key={secret}".encode())).decode()))
    secret = _letters(24)
    found.append(Canary("URL-encoded JSON", secret, "GET /v1?q=" + quote(json.dumps({"api_key": secret}))))
    secret = _letters(24)
    found.append(Canary("URL-encoded twice", secret, "GET /login?next=" + quote(quote(f"/x?token={secret}", safe=""), safe="")))
    secret = _letters(24)
    found.append(Canary("JSON unicode escapes", secret, r"{\u0022password\u0022\u003a\u0022" + secret + r"\u0022}"))
    secret = _letters(24)
    found.append(Canary("JSON in JSON in JSON", secret, json.dumps({"a": json.dumps({"b": json.dumps({"password": secret})})})))
    secret = "p@ss/w?rd+" + _letters(10)
    found.append(Canary("secret that URLs quote", secret, f'password="{secret}" then GET /x?p={quote(secret, safe="")}'))
    secret = _letters(24)
    found.append(Canary("seen once by name, then alone", secret, f"export SERVICE_PASSWORD={secret}\nINFO retrying with {secret} now\nINFO and {base64.b64encode(secret.encode()).decode()} too"))
    secret = _letters(20)
    found.append(Canary("bytes", secret, f"password=b'{secret}'"))
    return found


def _headers() -> list[Canary]:
    found = []
    for form in (
        "Authorization: Bearer {}", '"Authorization": "Bearer {}"', "-H 'Authorization: Token {}'", "authorization=Bearer {}", "{{'authorization': 'Bearer {}'}}", "Proxy-Authorization: Basic {}",
        "Cookie: session={}; theme=dark", "Set-Cookie: sid={}; HttpOnly", "X-Api-Key: {}", 'headers={{"x-auth-token": "{}"}}', "(b'authorization', b'Bearer {}')", "X-Subject-Token: {}",
    ):  # fmt: skip
        secret = _letters(28)
        found.append(Canary(f"header {form}", secret, "DEBUG " + form.format(secret)))
    for form in (
        "https://bob:{}@git.internal.corp/x.git", "pip install --index-url https://__token__:{}@pypi.internal.corp/simple", "redis://:{}@10.0.0.9:6379/0", "postgresql://svc:{}@db/app",
        "https://{}@gitlab.internal.corp/x.git", "http_proxy=http://u:{}@proxy.internal.corp:3128", "amqp://guest:{}@mq//", "mongodb+srv://u:{}@cluster0.internal.corp/", "https:\\/\\/bob:{}@git.internal.corp",
        "curl -u admin:{} http://10.0.0.7/", "sshpass -p {} ssh root@10.1.2.3", "docker login -u me -p {} swr.internal.corp", "mysql -uroot -p{} -h db", "redis-cli -a {} ping", "requirepass {}", "echo {} | sudo -S reboot",
        "machine git.internal.corp login bob password {}", "OBS_ACCESS_KEY_ID={}", "HW_SECRET_KEY: {}", "https://b.obs.internal.corp/x?AWSAccessKeyId=1&Signature={}&Expires=1", "密码：{}", "令牌: {}",
        "SharedAccessSignature sig={}&se=1", "DSN=oracle://x:{}@h/y", "ANTHROPIC_API_KEY={}", "WANDB_API_KEY: {}", "MODELSCOPE_API_TOKEN={}", "openssl rsa -passin pass:{}", "ENCRYPTION_KEY={}", "smtp_password = {}",
    ):  # fmt: skip
        secret = _letters(21)
        found.append(Canary(f"in {form}", secret, "INFO " + form.format(secret)))
    for label in ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "CERTIFICATE", "PRIVATE KEY"):
        secret = _letters(60)
        found.append(Canary(label, secret, f"-----BEGIN {label}-----\n{_letters(64)}\n{secret}\n-----END {label}-----"))
    secret = _letters(60)
    found.append(Canary("key on one line", secret, f'"key": "-----BEGIN PRIVATE KEY-----\\n{secret}\\n-----END PRIVATE KEY-----\\n"'))
    secret = "AAAAB3NzaC1yc2E" + _letters(60)
    found.append(Canary("ssh public key", secret, f"ssh-rsa {secret} bob@laptop-of-bob"))
    return found


def _prompts() -> list[Canary]:
    found = []
    for form in (
        "INFO 11-30 09:38:38 [logger.py:42] Received request cmpl-1: prompt: '{}', params: SamplingParams(n=1), prompt_token_ids: [1, 2], lora_request: None.",
        "DEBUG Request cmpl-1 details: prompt: \"{}\", prompt_token_ids: [5, 6, 7], prompt_embeds shape: None.", "INFO Generated response cmpl-1 (streaming complete): output: '{}', output_token_ids: [1], finish_reason: stop",
        '{{"model": "m", "messages": [{{"role": "user", "content": "{}"}}]}}', '{{"choices": [{{"text": "{}", "index": 0}}]}}', "curl http://h/v1/chat/completions -d '{{\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}'",
        'body="{{\\"prompt\\": \\"{}\\"}}"', "Prompt: 'x', Generated text: '{}'", '{{"delta": {{"content": "{}"}}}}', 'RequestOutput(request_id=0, prompt="{}", outputs=[])', "{{'messages': [{{'role': 'user', 'content': '{}'}}]}}",
    ):  # fmt: skip
        secret = "my diagnosis is " + _letters(12)
        found.append(Canary(f"prompt in {form[:40]}", secret, form.format(secret)))
    return found


def _names() -> list[Canary]:
    host, user = "gpu-node-b17.dc2.example-bank.internal", "wangxiaoming"
    return [
        Canary("host name", "gpu-node-b17", f"INFO rank 0 listens on {host}:2222"),
        Canary("host in journal", "gpu-node-b17", "Nov 30 09:38:38 gpu-node-b17 kernel: Out of memory"),
        Canary("host in a URL", "grafana.example-bank.internal", "see https://grafana.example-bank.internal/d/1"),
        Canary("shell prompt", "gpu-node-b17", "[root@gpu-node-b17 ~]# npu-smi info"),
        Canary("user", user, f"Traceback: File \"/home/{user}/run.py\", line 1"),
        Canary("user by key", "zhangwei7", "user=zhangwei7 uid=1002"),
        Canary("user in base64", user, base64.b64encode(f"/home/{user}/secret-project".encode()).decode()),
        Canary("email", "wang.xiaoming@example-bank.com", "contact wang.xiaoming@example-bank.com"),
        Canary("private IPv4", "10.23.45.67", "connect to 10.23.45.67:2222 failed"),
        Canary("public IPv4", "47.100.88.99", "peer 47.100.88.99"),
        Canary("IPv4 in JSON", "192.168.77.3", '{"device_id": "0", "device_ip": "192.168.77.3"}'),
        Canary("IPv4 in a host name", "ip-10-23-45-99", "node ip-10-23-45-99 is ready"),
        Canary("IPv6", "fd12:3456:789a:1::25", "bind [fd12:3456:789a:1::25]:80"),
        Canary("global IPv6", "2408:4005:301::8f", "peer 2408:4005:301::8f"),
        Canary("RoCE GID", "0000:0000:0000:0000:0000:ffff:0a17:2d43", "gid 0000:0000:0000:0000:0000:ffff:0a17:2d43"),
        Canary("MAC", "3c:78:43:9a:bc:de", "link/ether 3c:78:43:9a:bc:de"),
        Canary("MAC with dashes", "3C-78-43-9A-BC-DF", "MAC 3C-78-43-9A-BC-DF"),
        Canary("InfiniBand GUID", "f4:52:14:03:00:8b:4a:c1", "port guid f4:52:14:03:00:8b:4a:c1"),
        Canary("UUID", "6e1d2f9a-1b2c-4d3e-8f90-a1b2c3d4e5f6", "machine uuid 6e1d2f9a-1b2c-4d3e-8f90-a1b2c3d4e5f6"),
        Canary("serial number", "2102312NVW10N1000123", "Serial Number                  : 2102312NVW10N1000123"),
        Canary("SN", "033EFS10P7000456", "SN: 033EFS10P7000456"),
    ]  # fmt: skip


LOG = [*_keyed(), *_formats(), *_encoded(), *_headers(), *_prompts(), *_names()]

ARGV = [Canary("--api-key", _letters(20), "--api-key", "argv"), Canary("--ssl-keyfile-password", _letters(20), "--ssl-keyfile-password", "argv"), Canary("--hf-token=", _letters(20), "", "argv")]
VARIABLES = [
    Canary(name, _letters(20), name, "variable")
    for name in ("VLLM_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "GITHUB_TOKEN", "MY_COMPANY_THING", "WANDB_API_KEY", "OBS_SECRET", "PGPASSWORD", "https_proxy", "VLLM_CONFIG_JSON")
]  # fmt: skip
ELSEWHERE = [
    Canary("compose file", _letters(20), "services:\n  a:\n    image: x\n    environment:\n      - DB_PASSWORD={}\n", "/root/docker-compose.yml"),
    Canary("shell script", _letters(20), "export HF_TOKEN={}\nvllm serve /models/qwen --api-key $HF_TOKEN\n", "/root/start.sh"),
    Canary("script in a home", _letters(20), "curl -u me:{} http://10.23.45.67/\n", "/home/wangxiaoming/run.sh"),
    Canary("unit file", _letters(20), "[Service]\nEnvironment=API_TOKEN={}\nExecStart=/usr/bin/vllm serve m\n", "/etc/systemd/system/vllm.service"),
    Canary("pip configuration in sysctl", _letters(20), "# index https://u:{}@pypi.internal.corp/simple\nvm.swappiness = 1\n", "/etc/sysctl.d/90-x.conf"),
    Canary("password in npu-smi's output", _letters(20), "password: {}\n", "npu-smi info -m"),
    Canary("in the name of a file", "wangxiaoming", "echo {}\n", "/home/wangxiaoming/wangxiaoming-token.sh"),
]  # fmt: skip
KERNEL = [
    Canary("kernel command line", _letters(20), "[    0.000000] Command line: BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro ipmi.password={}", "dmesg"),
    Canary("MAC of a card", "3c:78:43:9a:bc:d1", "[    4.123456] hns3 0000:7d:00.0 eth0: address 3c:78:43:9a:bc:d1", "dmesg"),
    Canary("serial number of a stick", "4C530001230911107452", "[   12.500000] usb 1-1: SerialNumber: 4C530001230911107452", "dmesg"),
    Canary("user in an audit line", "wangxiaoming", "[   90.000000] audit: type=1112 acct=\"wangxiaoming\" exe=\"/usr/sbin/sshd\" addr=10.23.45.68", "dmesg"),
    Canary("address in an audit line", "10.23.45.68", "", "dmesg"),
    Canary("UUID of a disk", "7f1d2f9a-1b2c-4d3e-8f90-a1b2c3d4e5f7", "[    3.000000] EXT4-fs (sda1): mounted filesystem 7f1d2f9a-1b2c-4d3e-8f90-a1b2c3d4e5f7", "dmesg"),
    Canary("share on another host", "nas3.example-bank.internal", "[   99.000000] nfs: server nas3.example-bank.internal not responding, still trying", "dmesg"),
]
"""In the kernel's log."""
PLOG = [
    Canary("device_ip in a plog", "192.168.77.4", "[ERROR] HCCP(42,python):2026-11-30-09:38:38.000.000 connect to device_ip[192.168.77.4] failed", "debug/plog/plog-42_20261130093838000.log"),
    Canary("user's path in a plog", "wangxiaoming", "[INFO] GE(42,python):2026-11-30-09:38:38.000.000 load /home/wangxiaoming/secret-model/model.om", "debug/plog/plog-42_20261130093838000.log"),
    Canary("environment in a plog", _letters(20), "[EVENT] PROFILING(42,python):2026-11-30-09:38:38.000.000 env VLLM_API_KEY={}", "run/plog/plog-42_20261130093838000.log"),
    Canary("rank table in a device's log", "10.23.45.70", "[ERROR] HCCP(7,hccp):2026-11-30-09:38:38.000.000 server_id: 10.23.45.70 timed out", "debug/device-3/device-42_20261130093838000.log"),
    Canary("token in a device's log", _letters(24), "[INFO] AICPU(7,aicpu):2026-11-30-09:38:38.000.000 access_token={}", "run/device-3/device-42_20261130093838000.log"),
    Canary("chip's serial number in a device's log", "033EFS10P7000999", "[INFO] DRV(7,dmp):2026-11-30-09:38:38.000.000 SN: 033EFS10P7000999", "debug/device-3/device-42_20261130093838000.log"),
]
"""In CANN's and the devices' logs, by file below its place for logs."""
ALL = [*LOG, *ARGV, *VARIABLES, *ELSEWHERE, *KERNEL, *PLOG]


def encodings(secret: str) -> set[bytes]:
    """How logs write it."""
    data = secret.encode()
    found = {data, quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode(), data.hex().encode(), repr(secret)[1:-1].encode()}
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + data).decode().rstrip("=")
        found.add(whole[(0, 2, 3)[offset] : len(whole) - (1 if (len(data) + offset) % 3 else 0)].encode())
    return {each for each in found if len(each) >= 6}
