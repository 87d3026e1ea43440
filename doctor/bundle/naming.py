"""Serial numbers, addresses, hosts and users in a text, each by its stand-in.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`).
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections import Counter

from doctor.bundle import patterns
from doctor.bundle.encodings import sub
from doctor.bundle.patterns import MASK
from doctor.bundle.pseudonyms import Pseudonyms
from doctor.bundle.vocabulary import COMMON_WORDS, SYSTEM_USERS

SHORTEST_SEED = 4


class Naming:
    """What was learnt of names, and how often something was masked."""

    def __init__(self, key: bytes | None) -> None:
        self.counts: Counter[str] = Counter()
        self.names = Pseudonyms(os.urandom(32) if key is None else key)
        self._seeds: dict[str, str] = {}

    def _serial(self, match: re.Match[str]) -> str:
        value = match["value"]
        if patterns.HARMLESS.fullmatch(value) or value.upper() in ("NA", "N/A") or value.startswith("serial-") or not re.search(r"\d", value):
            return match[0]
        self.counts["serial"] += 1
        return match["head"] + self.names.name("serial", value)

    def _addresses(self, text: str) -> str:
        text = sub(patterns.EMAIL, ("@",), self._email, text)
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
        text = sub(patterns.HOME, ("/home/", "users", "~"), lambda match: match["head"] + self._name("user", match["name"]), text)
        text = sub(patterns.USER_KEY, patterns.NEAR_USERS, self._user, text)
        text = sub(patterns.HOST_KEY, patterns.NEAR_HOSTS, lambda match: match["head"] + self._host(match["name"]), text)
        text = patterns.JOURNAL_HOST.sub(self._journal_host, text)
        for pattern in (patterns.PROMPT_HOST, patterns.SSH_HOST):
            text = sub(pattern, ("@",), lambda match: match["head"] + self._name("user", match["user"]) + "@" + self._host(match["name"]), text)
        text = sub(patterns.DASHED_IP, ("ip-",), lambda match: self._host(match[0]), text)
        text = sub(patterns.URL_HOST, ("://", ":\\/"), lambda match: match["head"] + self._host(match["name"]), text)
        return sub(patterns.FQDN, patterns.NEAR_DOMAINS, lambda match: self._host(match[0]), text)

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


__all__ = ["Naming"]
