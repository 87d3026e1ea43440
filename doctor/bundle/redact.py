"""Takes out of texts what is secret or names somebody, and leaves what a diagnosis needs: versions, numbers, codes, device ids, times.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`). The same text always becomes the same, and a path becomes
what its parts become, so that a replay asks for what was kept. What was masked is counted by kind, never listed. `Redactor.learn` goes
over everything first: a secret that was recognised in one place is masked in all, in every encoding.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote, unquote

from doctor.bundle import patterns, public
from doctor.bundle.encodings import distinctive, from_base64, shape, sub, unescaped, variants
from doctor.bundle.naming import Naming
from doctor.bundle.patterns import MASK
from doctor.bundle.vocabulary import is_kept

PROFILES = ("support", "public", "raw")

LONGEST_ENCODED = 65536
DEPTH = 3
"""Encodings within encodings that are looked into."""

_SECRET_VARIABLE = re.compile(rf"(?i)(?:{patterns.STRONG_WORDS}|(?:^|_)(?:token|jwt|pwd|pass|auth|ak|sk|pat|otp|salt|cookie|key|credentials?)s?$)")


class Redactor(Naming):
    """Masks texts with one key. `profile`: support (names and addresses become pseudonyms), public (also paths, ports, models), raw (nothing)."""

    def __init__(self, profile: str = "support", key: bytes | None = None) -> None:
        if profile not in PROFILES:
            raise ValueError(profile)
        self.profile = profile
        super().__init__(key)
        self._secrets: set[str] = set()
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
            if is_kept(name):
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
        forms = sorted({form for secret in self._secrets for form in variants(secret)}, key=len, reverse=True)
        self._literals = re.compile("|".join(map(re.escape, forms))) if forms else None
        seeds = sorted(self._seeds, key=len, reverse=True)
        self._seeded = re.compile(r"(?i)(?<![A-Za-z0-9])(?:" + "|".join(map(re.escape, seeds)) + r")(?![A-Za-z0-9])") if seeds else None

    def _apply(self, text: str, depth: int) -> str:
        if "-----BEGIN" in text:
            text = patterns.PEM.sub(self._counted("secret"), text)
        if "AAAA" in text:
            text = patterns.SSH_KEY.sub(self._counted("secret"), text)
        text = sub(patterns.PROMPTS, patterns.NEAR_PROMPTS, self._prompt, text)
        text = sub(patterns.LINE_OF_BODY, patterns.NEAR_BODIES, self._body, text)
        text = sub(patterns.HEADERS, patterns.NEAR_HEADERS, self._headed, text)
        text = sub(patterns.USERINFO, ("@",), self._userinfo, text)
        text = sub(patterns.LOGINS, patterns.NEAR_LOGINS, self._headed, text)
        text = sub(patterns.OPTION, patterns.NEAR_SECRETS, self._option, text)
        text = sub(patterns.KEYED, patterns.NEAR_SECRETS, self._keyed, text)
        text = sub(patterns.TOKENS, patterns.NEAR_TOKENS, lambda match: self._secret(match[0]), text)
        if depth < DEPTH:
            text = self._encoded(text, depth, self._apply)
        text = sub(patterns.SERIALS, patterns.NEAR_SERIALS, self._serial, text)
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
        if distinctive(value):
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
        if distinctive(value):
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
        self._learn_secret(unescaped(value))
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
        return match["head"] + quoted[0] + shape(quoted[1:-1] if quoted[-1] == quoted[0] else quoted[1:]) + quoted[0]

    def _json_text(self, match: re.Match[str]) -> str:
        self.counts["prompt"] += 1
        quotes = match["escape"] + match["quote"]
        return match["head"] + (quotes + shape(match["text"]) + quotes if match["text"] is not None else "[" + quotes + MASK + quotes)

    def _encoded(self, text: str, depth: int, mask: Callable[[str, int], str]) -> str:
        """Masks what, decoded, would not stay as it is."""
        ways: tuple[tuple[re.Pattern[str], tuple[str, ...], Callable[[str], str | None], Callable[[str], str]], ...] = (
            (patterns.PERCENT, ("%2", "%3", "%4", "%5", "%7"), unquote, lambda plain: quote(plain, safe="/:?&=,@+~")),
            (patterns.JSON_ESCAPED, ("\\u00",), unescaped, lambda plain: json.dumps(plain)[1:-1]),
            (patterns.HEX_ESCAPED, ("\\x",), unescaped, lambda plain: MASK),
            (patterns.BASE64, (), from_base64, lambda plain: MASK),
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

            text = sub(pattern, near, replace, text)
        return text


__all__ = ["PROFILES", "Redactor"]
