"""The members of a tar stream, header by header. Its own reader, because what a header claims must never be believed.

ustar, GNU long names, and pax paths are known; sparse files and headers that are longer than a name needs are refused. Layout: POSIX.1-1988
ustar and the GNU tar manual.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from doctor.bundle.inflate import BLOCK, Bad, Inflated

RECORD = 512
LONGEST_EXTENSION = 64 * 1024
"""Bytes of a pax header or GNU long name: real ones have a few hundred."""
MOST_EXTENSIONS = 8
"""Headers before one member."""

_KINDS = {b"1": "hard link", b"2": "symbolic link", b"3": "character device", b"4": "block device", b"6": "fifo"}


class Sizes(Protocol):
    """The limits that matter here."""

    @property
    def member(self) -> int: ...
    @property
    def long_member(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def tail(self) -> int: ...


@dataclass
class Member:
    """One member. `read` gives its bytes (of a long one its head and tail), once, before the next is asked for."""

    name: str
    kind: str
    size: int
    read: Callable[[], bytes]
    target: str = ""


def members(stream: Inflated, limits: Sizes) -> Iterator[Member]:
    """Every member, in order. Raises `Bad`."""
    extended: dict[str, str] = {}
    extensions = 0
    while True:
        header = stream.read_or_end(RECORD)
        if not header:
            raise Bad("damaged", "ends without the end of an archive")
        if header == bytes(RECORD):
            return
        _check(header)
        kind, size = header[156:157], _number(header[124:136])
        if kind in b"xgLK" and kind:
            extensions += 1
            if size > LONGEST_EXTENSION or extensions > MOST_EXTENSIONS:
                raise Bad("hostile", "holds a header that is longer than any name")
            data = stream.read(_padded(size))[:size]
            if kind in b"xg":
                extended.update(_pax(data) if kind == b"x" else {})
            else:
                extended["path" if kind == b"L" else "linkpath"] = _text(data.rstrip(b"\0"))
            continue
        yield from _member(header, kind, size, extended, stream, limits)
        extended, extensions = {}, 0


def _member(header: bytes, kind: bytes, size: int, extended: dict[str, str], stream: Inflated, limits: Sizes) -> Iterator[Member]:
    name = extended.get("path") or _name(header)
    if kind == b"S" or any(key.startswith("GNU.sparse") for key in extended):
        raise Bad("hostile", f"holds a sparse file, whose size says nothing: {name[:200]!r}")
    if "size" in extended:
        size = _decimal(extended["size"])
    if kind == b"5" or (kind in (b"0", b"\0") and name.endswith("/")):
        _skip(stream, size, limits)
        yield Member(name, "folder", 0, bytes)
    elif kind in _KINDS:
        _skip(stream, size, limits)
        yield Member(name, _KINDS[kind], 0, bytes, extended.get("linkpath") or _text(header[157:257].partition(b"\0")[0]))
    elif kind in (b"0", b"\0", b"7"):
        if size > limits.member:
            raise Bad("large", f"holds a file of more than {limits.member // 2**20} MiB: {name[:200]!r}")
        left = [size]

        def read() -> bytes:
            left[0] = 0
            return _content(stream, size, limits)

        yield Member(name, "file", size, read)
        if left[0] or (size and left[0]):
            _skip(stream, size, limits)
    else:
        raise Bad("hostile", f"holds a member of unknown kind {kind!r}: {name[:200]!r}")


def _content(stream: Inflated, size: int, limits: Sizes) -> bytes:
    if size <= limits.long_member:
        data = stream.read(_padded(size))
        return data[:size]
    head = stream.read(limits.head)
    todo, last = size - limits.head, b""
    while todo:
        piece = stream.read(min(todo, BLOCK))
        todo -= len(piece)
        last = (last + piece)[-limits.tail :]
    stream.read(_padded(size) - size)
    return head + f"\n[doctor: {size - len(head) - len(last)} bytes left out here]\n".encode() + last


def _skip(stream: Inflated, size: int, limits: Sizes) -> None:
    if size > limits.member:
        raise Bad("hostile", "holds a link or folder with a size")
    todo = _padded(size)
    while todo:
        todo -= len(stream.read(min(todo, BLOCK)))


def _check(header: bytes) -> None:
    told = _number(header[148:156])
    if told != sum(header[:148]) + 8 * 32 + sum(header[156:]):
        raise Bad("damaged", "holds a header whose checksum is wrong")


def _number(field: bytes) -> int:
    """Octal, or GNU's base 256."""
    if field[:1] and field[0] & 0x80:
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if field[0] & 0x40 or value > 2**62:
            raise Bad("hostile", "holds a header with an impossible size")
        return value
    text = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]*", text):
        raise Bad("damaged", "holds a header with a size that is no number")
    return int(text or b"0", 8)


def _decimal(text: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise Bad("hostile", "holds a header with an impossible size")
    return int(text)


def _pax(data: bytes) -> dict[str, str]:
    """`length key=value\\n` records."""
    found: dict[str, str] = {}
    while data:
        told, _, _ = data.partition(b" ")
        if not re.fullmatch(rb"[0-9]{1,7}", told) or not len(told) + 3 <= int(told) <= len(data):
            raise Bad("damaged", "holds an extended header that cannot be read")
        record, data = data[len(told) + 1 : int(told)], data[int(told) :]
        key, sign, value = record.rstrip(b"\n").partition(b"=")
        if not sign:
            raise Bad("damaged", "holds an extended header that cannot be read")
        found[_text(key)] = _text(value)
    return found


def _name(header: bytes) -> str:
    name = _text(header[:100].partition(b"\0")[0])
    prefix = _text(header[345:500].partition(b"\0")[0]) if header[257:263] == b"ustar\0" else ""
    return f"{prefix}/{name}" if prefix else name


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _padded(size: int) -> int:
    return -(-size // RECORD) * RECORD


__all__ = ["Bad", "Member", "members"]
