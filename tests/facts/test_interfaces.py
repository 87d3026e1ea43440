"""Interfaces and local addresses, as the kernel lists them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.interfaces import Interfaces, parse_fib_trie, parse_if_inet6
from doctor.host import Unavailable

from .hosts import facts_of

TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.0
           /24 link UNICAST
        |-- 192.0.2.11
           /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
     |-- 127.0.0.1
        /32 host LOCAL
"""
SIX = "fe800000000000000042acfffe110002 02 40 20 80     eth0\n00000000000000000000000000000001 01 80 10 80       lo\n"


def test_local_addresses_only() -> None:
    assert parse_fib_trie(TRIE) == {"192.0.2.11", "127.0.0.1"}
    assert parse_if_inet6(SIX) == {"fe80::42:acff:fe11:2", "::1"}


def test_what_a_host_shows(tmp_path: Path) -> None:
    files = {"/sys/class/net/lo/mtu": "65536", "/sys/class/net/bond0/mtu": "1500", "/proc/net/fib_trie": TRIE}
    found = facts_of(tmp_path, files).get(Interfaces)
    assert found == Interfaces(("bond0", "lo"), frozenset({"192.0.2.11", "127.0.0.1"}))


def test_no_interface_seen_is_not_the_same_as_none(tmp_path: Path) -> None:
    assert isinstance(facts_of(tmp_path, {"/proc/net/fib_trie": TRIE}).get(Interfaces), Unavailable)


@given(st.text() | st.text(alphabet="|- 0123456789./hostLOCAL\nabcdef", max_size=300))
def test_no_text_makes_a_parser_raise(text: str) -> None:
    parse_fib_trie(text)
    parse_if_inet6(text)
