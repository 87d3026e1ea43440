"""Names and addresses that stand for others: the same for the same, subnets kept, and not to be turned back without the key.

Contract: standard library only, in the grammar of Python 3.6, because `doctor collect` carries this module to the host as it is. The key
is random, one a bundle, and is never written down.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable


def _mac(key: bytes, kind: str, value: str) -> bytes:
    return hmac.new(key, (kind + "\0" + value).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()


_KEPT_V4 = tuple(map(ipaddress.IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.17.0.0/16", "224.0.0.0/3")))
"""Addresses that name no machine: any, loopback, link-local, Docker's own bridge, multicast, netmasks and broadcast."""
_PRIVATE_V4 = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15")))


class Pseudonyms:
    """All of one bundle's stand-ins, from one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[tuple[str, str], str] = {}

    def name(self, kind: str, value: str) -> str:
        """`host-7f3a91`, `user-02c4de`: letters and digits only, so that it is valid wherever a name is."""
        return self._once(kind, value, lambda: kind + "-" + _mac(self._key, kind, value).hex()[:6])

    def uuid(self, value: str) -> str:
        """A UUID of the same shape."""

        def make() -> str:
            digits = iter(_mac(self._key, "uuid", value.lower()).hex())
            return "".join("-" if char == "-" else next(digits) for char in value)

        return self._once("uuid", value, make)

    def mac(self, value: str) -> str:
        """A locally administered address with the same separator."""
        separator = "-" if "-" in value else ":"
        plain = value.lower().replace("-", ":")
        if plain in ("00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"):
            return value
        return self._once("mac", value, lambda: separator.join(["02", *(f"{byte:02x}" for byte in _mac(self._key, "mac", plain)[:5])]))

    def port(self, value: int) -> int:
        """Another port of the same class; those below 1024 say which service it is, and stay."""
        if value < 1024:
            return value
        return int(self._once("port", str(value), lambda: str(1024 + int.from_bytes(_mac(self._key, "port", str(value))[:4], "big") % 64512)))

    def ipv4(self, value: str) -> str:
        """The same class (private, public); any two keep the length of their common prefix, whatever the netmask.

        Public ones go to the reserved 240.0.0.0/4, of which nobody has one.
        """
        return self._once("ip", value, lambda: self._ipv4(value))

    def _ipv4(self, value: str) -> str:
        address = ipaddress.IPv4Address(value)
        if any(address in network for network in _KEPT_V4):
            return value
        for network in _PRIVATE_V4:
            if address in network:
                return str(ipaddress.IPv4Address(self._bits(int(address), network.prefixlen, 32)))
        # 28 free bits for 32: the first half is hashed to 12, the second keeps its subnets.
        first, second = divmod(int(address), 1 << 16)
        head = int.from_bytes(_mac(self._key, "net", str(first))[:2], "big") >> 4
        return str(ipaddress.IPv4Address((0xF << 28) | (head << 16) | (self._bits(int(address), 16, 32) & 0xFFFF)))

    def ipv6(self, value: str) -> str:
        """The same class; the interface part is hashed, networks of 48 and 64 bits stay equal where they were."""
        return self._once("ip", value, lambda: self._ipv6(value))

    def _ipv6(self, value: str) -> str:
        address = ipaddress.IPv6Address(value)
        number = int(address)
        if address.ipv4_mapped is not None:
            mapped = int(ipaddress.IPv4Address(self.ipv4(str(address.ipv4_mapped))))
            return _like(value, ipaddress.IPv6Address((number >> 32 << 32) | mapped))
        if address.is_loopback or address.is_unspecified or address.is_multicast:
            return value
        last = int.from_bytes(_mac(self._key, "ip6", str(address))[:8], "big") if number & ((1 << 64) - 1) else 0
        if address.is_link_local:
            return _like(value, ipaddress.IPv6Address((number >> 64 << 64) | last))
        site = int.from_bytes(_mac(self._key, "ip6/48", str(number >> 80))[:2], "big")
        net = int.from_bytes(_mac(self._key, "ip6/64", str(number >> 64))[:2], "big")
        head = 0xFD000000 if number >> 121 == 0b1111110 else 0x20010DB8  # unique local, else the range kept for documentation
        return _like(value, ipaddress.IPv6Address((head << 16 | site) << 80 | net << 64 | last))

    def _bits(self, number: int, kept: int, width: int) -> int:
        """The number with every bit behind the first `kept` flipped or not, as the bits before it say."""
        result = number
        for at in range(kept, width):
            before = number >> (width - at)
            if _mac(self._key, "bit", f"{at}/{before}")[0] & 1:
                result ^= 1 << (width - at - 1)
        return result

    def _once(self, kind: str, value: str, make: Callable[[], str]) -> str:
        if (kind, value) not in self._known:
            self._known[(kind, value)] = make()
        return self._known[(kind, value)]


def _like(value: str, address: ipaddress.IPv6Address) -> str:
    """Written out where it was written out, as RoCE GIDs are."""
    return address.exploded if re.fullmatch("(?:[0-9A-Fa-f]{4}:){7}[0-9A-Fa-f]{4}", value) else str(address)
