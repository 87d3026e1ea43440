"""Network interfaces of the host (or container) that doctor sees, and the addresses that are its own."""

from __future__ import annotations

import posixpath
import re
from ipaddress import IPv6Address

from doctor.facts import Facts
from doctor.host import Host, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex


@dataclass(frozen=True)
class Interfaces:
    """Names as below /sys/class/net; `addresses` are all local ones (IPv4 from the routing table), None where they cannot be told."""

    names: tuple[str, ...]
    addresses: frozenset[str] | None = None
    source: str = "/sys/class/net"


_LEAF = regex(r"\|-- (\d{1,3}(?:\.\d{1,3}){3})\s*$")
_LOCAL = regex(r"/32 host LOCAL\s*$")


def parse_fib_trie(text: str) -> frozenset[str]:
    """Local IPv4 addresses of /proc/net/fib_trie: a leaf "|-- 192.0.2.11" with "/32 host LOCAL" below it."""
    found, leaf = set(), ""
    for line in text.splitlines():
        match = _LEAF.search(line[:200])
        if match:
            leaf = match[1]
        elif leaf and _LOCAL.search(line[:200]):
            found.add(leaf)
    return frozenset(found)


def parse_if_inet6(text: str) -> frozenset[str]:
    """Local IPv6 addresses of /proc/net/if_inet6: 32 hexadecimal digits at the start of each line."""
    words = (line.split(" ", 1)[0] for line in text.splitlines())
    return frozenset(str(IPv6Address(int(word, 16))) for word in words if re.fullmatch(r"[0-9a-f]{32}", word))


def read_interfaces(host: Host, facts: Facts) -> Interfaces | Unavailable:
    """Names and addresses; an Unavailable where no interface is seen, since even a container has `lo`."""
    paths = host.list("/sys/class/net/*")
    if isinstance(paths, Unavailable):
        return paths
    if not paths:
        return Unavailable("/sys/class/net", Why.NOT_RECORDED, "no interface is listed")
    names = tuple(name for path in paths if (name := posixpath.basename(path)) != "bonding_masters")
    table = host.read("/proc/net/fib_trie")
    if isinstance(table, Unavailable):
        return Interfaces(names)
    six = host.read("/proc/net/if_inet6")
    return Interfaces(names, parse_fib_trie(table) | (frozenset() if isinstance(six, Unavailable) else parse_if_inet6(six)))
