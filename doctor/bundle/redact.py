"""Takes out of texts what is secret or names somebody, and leaves what a diagnosis needs: versions, numbers, codes, device ids, times.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`). The same text always becomes the same, and a path becomes
what its parts become, so that a replay asks for what was kept. What was masked is counted by kind, never listed. `Redactor.learn` goes
over everything first: a secret that was recognised in one place is masked in all, in every encoding.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote, quote_plus, unquote

from doctor.bundle import patterns, public
from doctor.bundle.patterns import MASK
from doctor.bundle.pseudonyms import Pseudonyms

PROFILES = ("support", "public", "raw")

SYSTEM_USERS = frozenset((
    "root", "hwhiaiuser", "hwbaseuser", "hwdmuser", "hwmindie", "daemon", "bin", "sys", "sync", "adm", "lp", "mail", "news", "uucp", "proxy", "nobody",
    "sshd", "systemd", "messagebus", "dbus", "polkitd", "ubuntu", "ec2-user", "centos", "openeuler", "admin", "user", "username", "users", "name",
    "lost+found", "linuxbrew", "none", "null", "id", "group", "all", "any", "the", "a", "an", "ma-user",
))  # fmt: skip
"""Names that every server has: they name nobody. What a rule knows (HwHiAiUser) is among them."""
COMMON_WORDS = frozenset((
    "ascend", "atlas", "npu", "cann", "vllm", "torch", "python", "server", "master", "worker", "node", "head", "model", "models", "data", "test", "work",
    "home", "user", "host", "local", "localhost", "docker", "kubernetes", "pod", "default", "main", "serve", "root", "ray", "rank", "card", "chip",
    "driver", "runtime", "engine", "system", "linux", "ubuntu", "euler", "openeuler", "kylin", "debian", "centos", "container", "image", "train", "infer",
    "inference", "serving", "admin", "service", "public", "private", "share", "shared", "work", "workspace", "opt", "usr", "var", "tmp", "log", "logs",
    "info", "error", "debug", "warning", "qwen", "deepseek", "llama", "huawei", "notebook", "jupyter", "none", "null", "true", "false", "api", "core",
    "dev", "prod", "localdomain", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "ip6-allnodes", "ip6-allrouters", "ip6-localnet",
    "ip6-mcastprefix",
))  # fmt: skip
"""Words of logs: where a host or user is called so, the name is masked where it stands for one, and left elsewhere."""
KEPT_VARIABLES = (
    "PATH", "HOME", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "LC_", "LANGUAGE", "TZ", "HOSTNAME", "VIRTUAL_ENV", "CONDA_", "PYTHON", "LD_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_",
    "MALLOC_", "JEMALLOC_", "TORCH", "PYTORCH_", "NPU_", "ASCEND_", "ASDOPS_", "ATB_", "ACL", "CANN_", "HCCL_", "HCCS_", "LCCL_", "LCAL_", "TASK_QUEUE_ENABLE", "COMBINED_ENABLE", "CPU_AFFINITY_CONF", "MULTI_STREAM_", "INF_NAN_",
    "VLLM_", "HF_", "HUGGINGFACE_", "TRANSFORMERS_", "MODELSCOPE_", "USE_MODELSCOPE_", "LMCACHE_", "MOONCAKE_", "MC_", "MINDIE_", "MIES_", "RAY_", "NCCL_", "GLOO_", "TP_SOCKET_", "MASTER_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK",
    "CUDA_", "TRITON_", "TBE_", "TUNE_BANK_", "BENCHMARK_", "GE_", "DUMP_", "ENABLE_", "DISABLE_", "PROFILING_", "NODE_NAME", "POD_", "KUBERNETES_SERVICE_", "container", "TMPDIR", "XDG_CACHE_HOME", "TOOLCHAIN_HOME", "WORK_PATH", "no_proxy", "NO_PROXY", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "TERM", "SHLVL", "_", "OLDPWD", "NVIDIA_VISIBLE_DEVICES", "TOKENIZERS_PARALLELISM", "DP_", "SERVER_", "PIP_", "UV_",
)  # fmt: skip
"""Names, and beginnings that end in "_", of variables whose value says something about serving. The value of any other becomes a stand-in."""
SHORTEST_SEED = 4
SHORTEST_LEARNT = 8
"""Characters of a secret that is looked for everywhere; shorter ones stand in words by chance."""
LONGEST_ENCODED = 65536
DEPTH = 3
"""Encodings within encodings that are looked into."""

_SECRET_VARIABLE = re.compile(rf"(?i)(?:{patterns.STRONG_WORDS}|(?:^|_)(?:token|jwt|pwd|pass|auth|ak|sk|pat|otp|salt|cookie|key|credentials?)s?$)")


class Redactor:
    """Masks texts with one key. `profile`: support (names and addresses become pseudonyms), public (also paths, ports, models), raw (nothing)."""

    def __init__(self, profile: str = "support", key: bytes | None = None) -> None:
        if profile not in PROFILES:
            raise ValueError(profile)
        self.profile = profile
        self.counts: Counter[str] = Counter()
        self.names = Pseudonyms(os.urandom(32) if key is None else key)
        self._secrets: set[str] = set()
        self._seeds: dict[str, str] = {}
        self._literals: re.Pattern[str] | None = None
        self._seeded: re.Pattern[str] | None = None
        self._drafts: dict[str, tuple[str, Counter[str]]] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Recognises secrets and names, to be masked wherever they stand. Call it with everything, before the first `text`."""
        if self.profile != "raw":
            for text in texts:
                self._draft(text)
        self._freeze()

    def learn_names(self, kind: str, names: Iterable[str]) -> None:
        """Names of a host or user that were told by the machine itself."""
        for name in names:
            self._name(kind, name.strip())
        self.counts.clear()
        self._freeze()

    def text(self, text: str) -> str:
        """The text, masked."""
        if self.profile == "raw" or not text:
            return text
        draft, counts = self._draft(text)
        self.counts.update(counts)
        return self._sealed(draft)

    def _draft(self, text: str) -> tuple[str, Counter[str]]:
        """What the text becomes by itself, whatever else was learnt: so each is gone over once."""
        if text not in self._drafts:
            before, self.counts = self.counts, Counter()
            self._drafts[text] = self._apply(text, 0), self.counts
            self.counts = before
        return self._drafts[text]

    def _sealed(self, text: str, depth: int = 0) -> str:
        """With what was learnt anywhere masked in it, in every encoding."""
        if self._literals is not None:
            text = self._literals.sub(self._counted("secret"), text)
        if self._seeded is not None:
            text = self._seeded.sub(lambda match: self._counted_name(self._seeds[match[0].lower()]), text)
        if (self._literals or self._seeded) and depth < DEPTH:
            text = self._encoded(text, depth, self._sealed)
        return text

    def argv(self, argv: Iterable[str]) -> list[str]:
        """The words of a command line, each of them masked; the word behind an option that takes a secret is one."""
        masked: list[str] = []
        option = False
        for word in argv:
            if option and self.profile != "raw" and not word.startswith("--") and self._is_secret(word, strong=True):
                masked.append(self._secret(word))
            else:
                masked.append(self.text(word))
            option = bool(re.fullmatch(rf"(?i)--?(?:[a-z0-9]{{1,20}}[-_]){{0,4}}(?:{patterns.STRONG_WORDS}|{patterns.WEAK_WORDS})", word))
        return masked

    def variable(self, name: str, value: str) -> str:
        """The value of an environment variable; what `name=value` would become."""
        if self.profile == "raw":
            return value
        if _SECRET_VARIABLE.search(name) and self._is_secret(value, strong=True) and not (name.lower().endswith("pwd") and value.startswith("/")):
            return self._secret(value)
        if name in ("USER", "LOGNAME", "SUDO_USER", "USERNAME"):
            return self._name("user", value)
        if name in ("HOSTNAME", "HOST", "NODE_NAME", "POD_NAME", "MY_NODE_NAME", "MY_POD_NAME", "K8S_NODE_NAME", "COMPUTERNAME"):
            return self._host(value)
        return self.text(value)

    def mapping(self, variables: Mapping[str, str]) -> dict[str, str]:
        """An environment."""
        return {self.text(name): self.variable(name, value) for name, value in variables.items()}

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """A process's environment: variables that say something about serving, masked; of any other the name, and a stand-in for its value."""
        if self.profile == "raw":
            return dict(variables)
        masked = {}
        for name in sorted(variables):
            if _is_kept(name):
                masked[self.text(name)] = self.variable(name, variables[name])
            else:
                self.counts["variable"] += 1
                masked[self.text(name)] = self.names.name("value", variables[name])
        return masked

    def json(self, value: object, name: str = "") -> object:
        """A JSON value with every text in it masked; `name` is its key."""
        if isinstance(value, str):
            return self.variable(name, value) if name else self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.json(inner, key if isinstance(inner, str) else "") for key, inner in value.items()}
        if isinstance(value, list):
            return self.argv(value) if value and all(isinstance(item, str) for item in value) else [self.json(item) for item in value]
        return value

    def leaks(self, text: str) -> bool:
        """Whether a secret that was recognised anywhere still stands in it, in any encoding."""
        return self.profile != "raw" and self._literals is not None and self._literals.search(text) is not None

    def host(self, name: str) -> str:
        """The stand-in of a host's name."""
        return name if self.profile == "raw" else self._host(name)

    def _freeze(self) -> None:
        variants = sorted({variant for secret in self._secrets for variant in _variants(secret)}, key=len, reverse=True)
        self._literals = re.compile("|".join(map(re.escape, variants))) if variants else None
        seeds = sorted(self._seeds, key=len, reverse=True)
        self._seeded = re.compile(r"(?i)(?<![A-Za-z0-9])(?:" + "|".join(map(re.escape, seeds)) + r")(?![A-Za-z0-9])") if seeds else None

    def _apply(self, text: str, depth: int) -> str:
        if "-----BEGIN" in text:
            text = patterns.PEM.sub(self._counted("secret"), text)
        if "AAAA" in text:
            text = patterns.SSH_KEY.sub(self._counted("secret"), text)
        text = _sub(patterns.PROMPTS, patterns.NEAR_PROMPTS, self._prompt, text)
        text = _sub(patterns.LINE_OF_BODY, patterns.NEAR_BODIES, self._body, text)
        text = _sub(patterns.HEADERS, patterns.NEAR_HEADERS, self._headed, text)
        text = _sub(patterns.USERINFO, ("@",), self._userinfo, text)
        text = _sub(patterns.LOGINS, patterns.NEAR_LOGINS, self._headed, text)
        text = _sub(patterns.OPTION, patterns.NEAR_SECRETS, self._option, text)
        text = _sub(patterns.KEYED, patterns.NEAR_SECRETS, self._keyed, text)
        text = _sub(patterns.TOKENS, patterns.NEAR_TOKENS, lambda match: self._secret(match[0]), text)
        if depth < DEPTH:
            text = self._encoded(text, depth, self._apply)
        text = _sub(patterns.SERIALS, patterns.NEAR_SERIALS, self._serial, text)
        text = self._names_in(self._addresses(text))
        if self.profile == "public":
            text = public.masked(text, self.names, self._seed, self._count)
        return text

    def _seed(self, name: str, stand_in: str) -> None:
        self._seeds.setdefault(name.lower(), stand_in)

    def _count(self, kind: str) -> None:
        self.counts[kind] += 1

    def _counted(self, kind: str) -> Callable[[re.Match[str]], str]:
        def masked(match: re.Match[str]) -> str:
            self.counts[kind] += 1
            return MASK

        return masked

    def _secret(self, value: str) -> str:
        self.counts["secret"] += 1
        if _distinctive(value):
            self._secrets.add(value)
        return MASK

    def _is_secret(self, value: str, *, strong: bool) -> bool:
        plain = value.strip().strip("\"'")
        if not plain or patterns.HARMLESS.fullmatch(plain):
            return False
        if strong:
            return True
        # The value of a weak word: no number, no path, no plain word.
        return len(plain) >= 6 and not re.fullmatch(r"[\d.,:+-]+[a-z%]{0,8}|[a-z_]{1,16}|[/.][\w/.-]*|[A-Z][a-z]+|\w+\(.*", plain)

    def _headed(self, match: re.Match[str]) -> str:
        for number in ("", "2", "3", "4", "5"):
            head = match.groupdict().get("head" + number)
            if head is not None:
                value = match["value" + number]
                if patterns.HARMLESS.fullmatch(value.strip("\"'")) or value.startswith(MASK):
                    return match[0]
                for part in re.split(r"[;,\s]+", value) if "ookie" in head else [value]:
                    self._learn_secret(part.partition("=")[2] or part)
                return head + self._secret(value)
        return match[0]

    def _learn_secret(self, value: str) -> None:
        if _distinctive(value):
            self._secrets.add(value)

    def _userinfo(self, match: re.Match[str]) -> str:
        info = match["info"]
        if info == MASK:
            return match[0]
        user, _, password = info.partition(":")
        if password:
            self._learn_secret(unquote(password))
            self._learn_secret(password)
        else:
            self._learn_secret(user)
        self.counts["secret"] += 1
        return match["scheme"] + MASK + "@"

    def _option(self, match: re.Match[str]) -> str:
        value = match["value"]
        weak = re.search(rf"(?i)(?:{patterns.STRONG_WORDS})$", match["option"]) is None
        if value.startswith("-") or not self._is_secret(value, strong=not weak or match["option"].startswith("--")):
            return match[0]
        quotes = value[: len(value) - len(value.lstrip("\\\"'"))]
        return match["option"] + match["gap"] + quotes + self._secret(value.strip("\\\"'")) + quotes

    def _keyed(self, match: re.Match[str]) -> str:
        start = match.start()
        before = match.string[max(0, start - 24) : start]
        word = match["strong"] or match["weak"]
        if match["weak"] and patterns.NOT_SECRET_BEFORE.search(before):
            return match[0]
        strong = match["strong"] is not None
        head = word + match["separator"]
        if match["list"] is not None:
            words = re.findall(r"[^\[\]()\s,\"']+", match["list"])
            if not any(self._is_secret(each, strong=strong) for each in words):
                return match[0]
            for each in words:
                self._learn_secret(each)
            self.counts["secret"] += 1
            return f"{head}{match['list'][0]}'{MASK}'{match['list'][-1]}"
        value = match["bare"] if match["bare"] is not None else match["quoted"]
        if value.startswith(("/", "./")) and word.lower() in ("pwd", "auth", "private_key", "private-key", "credential", "credentials"):
            return match[0]  # a path
        if not self._is_secret(value, strong=strong):
            return match[0]
        if match["bare"] is not None:
            return head + self._secret(value)
        quotes = match["escape"] + match["quote"]
        self._learn_secret(_unescaped(value))
        return head + quotes + self._secret(value) + quotes

    def _body(self, match: re.Match[str]) -> str:
        """A line with a request or an answer in it."""
        return patterns.JSON_TEXT.sub(self._json_text, match[0]) if patterns.BODY.search(match[0]) else match[0]

    def _prompt(self, match: re.Match[str]) -> str:
        if match["head2"] is not None:
            self.counts["prompt"] += 1
            return match["head2"] + "[" + MASK + "]"
        quoted = match["text"]
        if len(quoted) <= 2 or quoted[1:-1] == MASK:
            return match[0]
        self.counts["prompt"] += 1
        return match["head"] + quoted[0] + _shape(quoted[1:-1] if quoted[-1] == quoted[0] else quoted[1:]) + quoted[0]

    def _json_text(self, match: re.Match[str]) -> str:
        self.counts["prompt"] += 1
        quotes = match["escape"] + match["quote"]
        return match["head"] + (quotes + _shape(match["text"]) + quotes if match["text"] is not None else "[" + quotes + MASK + quotes)

    def _encoded(self, text: str, depth: int, mask: Callable[[str, int], str]) -> str:
        """Masks what, decoded, would not stay as it is."""
        ways: tuple[tuple[re.Pattern[str], tuple[str, ...], Callable[[str], str | None], Callable[[str], str]], ...] = (
            (patterns.PERCENT, ("%2", "%3", "%4", "%5", "%7"), unquote, lambda plain: quote(plain, safe="/:?&=,@+~")),
            (patterns.JSON_ESCAPED, ("\\u00",), _unescaped, lambda plain: json.dumps(plain)[1:-1]),
            (patterns.HEX_ESCAPED, ("\\x",), _unescaped, lambda plain: MASK),
            (patterns.BASE64, (), _from_base64, lambda plain: MASK),
        )
        for pattern, near, decode, encode in ways:

            def replace(match: re.Match[str], decode: Callable[[str], str | None] = decode, encode: Callable[[str], str] = encode) -> str:
                text = match[0]
                plain = decode(text) if len(text) <= LONGEST_ENCODED else None
                if plain is None or plain == text:
                    return text
                before = Counter(self.counts)
                masked = mask(plain, depth + 1)
                if masked == plain:
                    self.counts = before
                return text if masked == plain else encode(masked)

            text = _sub(pattern, near, replace, text)
        return text

    def _serial(self, match: re.Match[str]) -> str:
        value = match["value"]
        if patterns.HARMLESS.fullmatch(value) or value.upper() in ("NA", "N/A") or value.startswith("serial-") or not re.search(r"\d", value):
            return match[0]
        self.counts["serial"] += 1
        return match["head"] + self.names.name("serial", value)

    def _addresses(self, text: str) -> str:
        text = _sub(patterns.EMAIL, ("@",), self._email, text)
        text = patterns.UUID.sub(self._uuid, text)
        if patterns.NEAR_MAC.search(text):
            text = patterns.INFINIBAND.sub(self._infiniband, patterns.MAC.sub(self._mac, text))
        if ":" in text:
            text = patterns.IPV6.sub(self._ipv6, text)
        if "00000000" in text:
            text = patterns.IF_INET6.sub(self._if_inet6, text)
        return patterns.IPV4.sub(self._ipv4, text) if "." in text else text

    def _email(self, match: re.Match[str]) -> str:
        if patterns.PUBLIC_HOSTS.fullmatch(match[0].rpartition("@")[2]) and match[0].startswith(("git@", "noreply@")):
            return match[0]
        self.counts["address"] += 1
        return self.names.name("email", match[0].lower()) + "@example.invalid"

    def _uuid(self, match: re.Match[str]) -> str:
        self.counts["id"] += 1
        return self.names.uuid(match[0])

    def _mac(self, match: re.Match[str]) -> str:
        self.counts["address"] += 1
        return self.names.mac(match[0])

    def _infiniband(self, match: re.Match[str]) -> str:
        self.counts["address"] += 1
        digits = self.names.uuid(match[0].replace(":", "0") + "0" * 20)
        return ":".join(digits[at * 2 % 60 : at * 2 % 60 + 2] for at in range(match[0].count(":") + 1))

    def _ipv6(self, match: re.Match[str]) -> str:
        text = match[0]
        try:
            ipaddress.IPv6Address(text)
        except ValueError:
            return text
        return self._mapped(text, self.names.ipv6(text))

    def _if_inet6(self, match: re.Match[str]) -> str:
        before = str(ipaddress.IPv6Address(int(match[0], 16)))
        after = self._mapped(before, self.names.ipv6(before))
        return format(int(ipaddress.IPv6Address(after)), "032x")

    def _ipv4(self, match: re.Match[str]) -> str:
        text = match[0]
        try:
            address = ipaddress.IPv4Address(".".join(str(int(part)) for part in text.split(".")))
        except ValueError:
            return text
        before = match.string[max(0, match.start() - 100) : match.start()].rpartition("\n")[2]
        after = match.string[match.end() : match.end() + 20]
        if patterns.VERSION_BEFORE.search(before) or patterns.VERSION_AFTER.match(after):
            return text
        if not address.is_private and patterns.PRODUCT_BEFORE.search(before):
            return text
        return self._mapped(text, self.names.ipv4(str(address)))

    def _mapped(self, before: str, after: str) -> str:
        if before != after:
            self.counts["address"] += 1
        return after

    def _names_in(self, text: str) -> str:
        text = _sub(patterns.HOME, ("/home/", "users", "~"), lambda match: match["head"] + self._name("user", match["name"]), text)
        text = _sub(patterns.USER_KEY, patterns.NEAR_USERS, self._user, text)
        text = _sub(patterns.HOST_KEY, patterns.NEAR_HOSTS, lambda match: match["head"] + self._host(match["name"]), text)
        text = patterns.JOURNAL_HOST.sub(self._journal_host, text)
        for pattern in (patterns.PROMPT_HOST, patterns.SSH_HOST):
            text = _sub(pattern, ("@",), lambda match: match["head"] + self._name("user", match["user"]) + "@" + self._host(match["name"]), text)
        text = _sub(patterns.DASHED_IP, ("ip-",), lambda match: self._host(match[0]), text)
        text = _sub(patterns.URL_HOST, ("://", ":\\/"), lambda match: match["head"] + self._host(match["name"]), text)
        return _sub(patterns.FQDN, patterns.NEAR_DOMAINS, lambda match: self._host(match[0]), text)

    def _journal_host(self, match: re.Match[str]) -> str:
        return match["head"] + (match["name"] if match["name"].isupper() else self._host(match["name"]))

    def _user(self, match: re.Match[str]) -> str:
        name, stated = match["name"], not match["head"].endswith(" ") or bool(re.search(r"[:=：]\s*$", match["head"]))
        # After a mere space, only where a login is told.
        if not stated and not re.search(r"(?i)(?:for|opened for user)(?: invalid user)? $", match["head"]):
            return match[0]
        if patterns.HARMLESS.fullmatch(name) or name.lower() in COMMON_WORDS:
            return match[0]
        return match["head"] + self._name("user", name, everywhere=bool(re.search(r"\d", name)))

    def _host(self, name: str) -> str:
        """The pseudonym of a host's name; an address, or the name of a public service, as it is."""
        plain = name.rstrip(".").lower()
        if not plain or plain in COMMON_WORDS or plain == MASK.lower() or patterns.HARMLESS.fullmatch(plain) or patterns.PUBLIC_HOSTS.fullmatch(plain):
            return name
        if re.fullmatch(r"[\d.:]+|(?:host|user|model|email)-[0-9a-f]{6}(?:@.*)?", plain) or plain.endswith(".invalid"):
            return name
        return self._name("host", name, everywhere=bool(re.search(r"[\d.-]", plain)))

    def _name(self, kind: str, name: str, everywhere: bool = True) -> str:
        """The pseudonym; `everywhere`: the name is masked wherever it stands from now on, unless it is a common word."""
        plain = name.lower()
        if not plain or plain in SYSTEM_USERS or re.fullmatch(r"(?:host|user)-[0-9a-f]{6}|\d+", plain) or plain == MASK.lower() or plain == "localhost":
            return name
        pseudonym = self._seeds.get(plain) or self.names.name(kind, plain)
        if everywhere:
            short = plain.partition(".")[0]
            for seed in (plain, short) if kind == "host" and re.search(r"[\d-]", short) else (plain,):
                if len(seed) >= SHORTEST_SEED and seed not in COMMON_WORDS:
                    self._seeds.setdefault(seed, pseudonym)
        return self._counted_name(pseudonym)

    def _counted_name(self, pseudonym: str) -> str:
        self.counts["name"] += 1
        return pseudonym


def _sub(pattern: re.Pattern[str], near: tuple[str, ...], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """`pattern.sub`, tried only on the lines that hold one of the literals (lower case; none: on all): most patterns are slower than the search for these."""
    if not near:
        return pattern.sub(replace, text)
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two; then the places would not be the same
        return pattern.sub(replace, text)
    lines = set()
    for literal in near:
        at = lower.find(literal)
        while at >= 0:
            lines.add(lower.rfind("\n", 0, at) + 1)
            end = lower.find("\n", at)
            at = lower.find(literal, end) if end >= 0 else -1
    if not lines:
        return text
    done, parts = 0, []
    for start in sorted(lines):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        parts += [text[done:start], pattern.sub(replace, text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def _is_kept(name: str) -> bool:
    beginning = any(name == kept or (kept.endswith("_") and len(kept) > 1 and name.startswith(kept)) for kept in KEPT_VARIABLES)
    return beginning or name.startswith(("PYTHON", "TORCH", "ACL", "RANK", "LMCACHE"))


_SHAPE = re.compile(r"(<[|｜][^<>\n]{1,60}[|｜]>|(?P<mark>[^\w\s])(?P=mark){3,})")


def _shape(text: str) -> str:
    """What a person wrote or was told goes; a model's own marks, and one repeated endlessly, show what is wrong with it."""
    parts = re.split(_SHAPE, text)
    return "".join(part if index % 3 == 1 else MASK if index % 3 == 0 and part.strip() else "" for index, part in enumerate(parts))


def _distinctive(value: str) -> bool:
    """Whether the value can be looked for everywhere without masking words that merely look like it."""
    if len(value) < SHORTEST_LEARNT or value.startswith(("/", MASK)) or value.isdigit() and len(value) < 12:
        return False
    return len(value) >= 20 or not re.fullmatch("[a-z]+|[A-Z]+|[A-Z][a-z]+|[a-z_-]+", value)


def _variants(secret: str) -> set[str]:
    """How logs write it: as it is, quoted for a URL or JSON, in hexadecimal, in base64 at any of the three offsets."""
    data = secret.encode("utf-8", "surrogatepass")
    found = {secret, quote(secret, safe=""), quote_plus(secret), quote(secret), json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1], data.hex()}
    if len(data) >= 9:
        for offset in range(3):
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                whole = encode(b"\0" * offset + data).decode("ascii").rstrip("=")
                # The characters that also hold bits of the neighbours differ.
                start, end = (0, 2, 3)[offset], len(whole) - (1 if (len(data) + offset) % 3 else 0)
                found.add(whole[start:end])
    return {variant for variant in found if len(variant) >= SHORTEST_LEARNT}


def _unescaped(text: str) -> str:
    """JSON's and Python's escapes undone, as far as they are some."""
    def char(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1] or match[2], 16))
        return chr(int(match[2], 16)) if match[2] else {"n": "\n", "t": "\t", "r": "\r"}.get(match[3], match[3])

    return re.sub(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|\\(.)", char, text)


def _from_base64(text: str) -> str | None:
    """The text that it stands for; None where it is no text in base64."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) % 4 == 1 or plain.islower() or plain.isdigit() or plain.count("/") > 3 and len(plain) < 120:
        return None  # words, numbers, paths
    try:
        decoded = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return decoded if decoded and all(char.isprintable() or char in "\r\n\t" for char in decoded) else None
