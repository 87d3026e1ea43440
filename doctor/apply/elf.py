"""Shared libraries read as data (ELF, 64 bit, little-endian): for which processor, which libraries and symbols they need and give. Pure; never raises."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}
MOST_SYMBOLS = 500_000
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NEEDED, _DYNAMIC, _DYNSYM = 1, 6, 11
_GLIBC = re.compile(rb"GLIBC_2\.(\d{1,3})(?:\.\d{1,3})?\x00")


@dataclass(frozen=True)
class Elf:
    """`machine` as `uname -m` says it; `glibc` the newest GLIBC_2.N that it asks for, "" where none."""

    machine: str
    needed: tuple[str, ...] = ()
    wanted: frozenset[str] = frozenset()
    """Symbols that another library has to give."""
    given: frozenset[str] = frozenset()
    glibc: str = ""


def read_elf(data: bytes) -> Elf | None:
    """The library; None for what is no such file, or is cut off."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        return None
    machine = struct.unpack_from("<H", data, 18)[0]
    try:
        offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
        sections = [_SECTION.unpack_from(data, offset + size * number) for number in range(count)] if size == _SECTION.size else []
        dynamic = next((one for one in sections if one[1] == _DYNAMIC), None)
        symbols = next((one for one in sections if one[1] == _DYNSYM), None)
        strings = _bytes(data, sections[dynamic[6]]) if dynamic else b""
        needed = tuple(_text(strings, value) for tag, value in _pairs(_bytes(data, dynamic)) if tag == _NEEDED) if dynamic else ()
        wanted, given = _symbols(_bytes(data, symbols), _bytes(data, sections[symbols[6]])) if symbols else (frozenset[str](), frozenset[str]())
    except (struct.error, IndexError):
        return None
    minors = [int(minor) for minor in _GLIBC.findall(strings)]
    return Elf(MACHINES.get(machine, f"machine {machine}"), needed, wanted, given, f"2.{max(minors)}" if minors else "")


def _bytes(data: bytes, section: tuple[int, ...]) -> bytes:
    return data[section[4] : section[4] + section[5]]


def _pairs(data: bytes) -> Iterator[tuple[int, int]]:
    for at in range(0, len(data) - 15, 16):
        tag, value = struct.unpack_from("<qQ", data, at)
        if tag == 0:
            return
        yield tag, value


def _text(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return strings[at : end if end >= 0 else len(strings)].decode("latin-1") if 0 <= at < len(strings) else ""


def _symbols(data: bytes, strings: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """(undefined and not weak, defined) by name."""
    wanted: set[str] = set()
    given: set[str] = set()
    for at in range(_SYMBOL.size, min(len(data), MOST_SYMBOLS * _SYMBOL.size) - _SYMBOL.size + 1, _SYMBOL.size):
        name, info, _, section, _, _ = _SYMBOL.unpack_from(data, at)
        text = _text(strings, name)
        if not text or info >> 4 == 0:
            continue
        if section:
            given.add(text)
        elif info >> 4 == 1:
            wanted.add(text)
    return frozenset(wanted), frozenset(given)


__all__ = ["Elf", "read_elf"]
