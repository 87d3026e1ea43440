"""Self-extracting run-files (makeself, as Huawei's installers and custom operator packages are): read and checked without running them. Pure.

Contract: nothing here executes the file. The head is shell text of a known shape; what does not have it is told as such (None), never guessed.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

HEAD_LIMIT = 256 * 1024
"""Bytes of the head; makeself's own script has 20 KB, installers add at most that again."""
CHUNK = 64 * 1024
"""Bytes unpacked at a time: the most that they can become is a thousand times as much."""
MOST_MEMBERS = 20_000
MOST_UNPACKED = 2 * 1024**3

_SKIP = re.compile(r'^(?:skip|SKIP)="?(\d{1,7})"?$|head -n "?(\d{1,7})"? "\$0"', re.MULTILINE)
_FIELD = re.compile(r'^(label|MD5|SHA|CRCsum|filesizes|COMPRESS)="([^"\n]{0,400})"', re.MULTILINE)
_SIZE = re.compile(r"Uncompressed size: (\d{1,12}) ?([KMG]?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30}

Read = Callable[[int, int], bytes]
"""read(offset, length) -> at most so many bytes."""


@dataclass(frozen=True)
class RunHead:
    """`offset` is where the payload begins, `sizes` the lengths of its parts, in bytes; `unpacked` the size of what is in it, 0 if not told."""

    label: str
    offset: int
    sizes: tuple[int, ...]
    md5: str = ""
    sha256: str = ""
    unpacked: int = 0


def read_head(read: Read) -> RunHead | None:
    """The head of a run-file; None for what is none."""
    data = read(0, HEAD_LIMIT)
    if not data.startswith(b"#!"):
        return None
    text = data.decode("latin-1")
    skip = _SKIP.search(text)
    fields = dict(_FIELD.findall(text))
    if skip is None or "filesizes" not in fields:
        return None
    lines, at = int(skip[1] or skip[2]), 0
    for _ in range(lines):
        at = data.find(b"\n", at) + 1
        if at == 0:
            return None
    sizes = tuple(int(word) for word in fields["filesizes"].split() if word.isdecimal() and len(word) < 14)
    if not sizes:
        return None
    unpacked = _SIZE.search(text)
    size = int(unpacked[1]) << _POWERS[unpacked[2].upper()] if unpacked else 0
    md5, sha = fields.get("MD5", "").split(), fields.get("SHA", "").split()
    return RunHead(fields.get("label", ""), at, sizes, _digest(md5, 32), _digest(sha, 64), size)


def _digest(words: list[str], length: int) -> str:
    """makeself writes zeros where it was told to leave the sum out."""
    first = words[0].lower() if words else ""
    return first if re.fullmatch(rf"[0-9a-f]{{{length}}}", first) and set(first) != {"0"} else ""


def damage(head: RunHead, read: Read, total: int) -> str:
    """What is wrong with the payload: its length or its own sum; "" where nothing is, or where the head tells no sum."""
    wanted = head.offset + sum(head.sizes)
    if total < wanted:
        return f"the file has {total} bytes, its head names {wanted}: it was not copied whole"
    for name, told in (("sha256", head.sha256), ("md5", head.md5)):
        if told:
            digest = hashlib.new(name, usedforsecurity=False)
            for data in _parts(read, head.offset, head.sizes[0]):
                digest.update(data)
            return "" if digest.hexdigest() == told else f"its {name} is not the one in its head"
    return ""


def _parts(read: Read, offset: int, length: int) -> Iterator[bytes]:
    at, end = offset, offset + length
    while at < end and (data := read(at, min(CHUNK, end - at))):
        at += len(data)
        yield data


def members(head: RunHead, read: Read, most: int = MOST_UNPACKED) -> Iterator[tuple[tarfile.TarInfo, Callable[[], bytes]]]:
    """The regular files, folders and links of the payload's archive, with their contents. Raises ValueError for what is no such archive."""
    payload = _Plain(_unpacked(_parts(read, head.offset, head.sizes[0]), most))
    try:
        with tarfile.open(fileobj=payload, mode="r|") as tar:
            for number, member in enumerate(tar):
                if number >= MOST_MEMBERS:
                    raise ValueError("too many files")
                yield member, lambda member=member: _content(tar, member)  # type: ignore[misc]
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as problem:
        raise ValueError(f"the payload cannot be unpacked: {problem}") from None


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return file.read() if file is not None else b""


def _unpacked(parts: Iterator[bytes], most: int) -> Iterator[bytes]:
    """The payload as a plain tar archive, whichever way it was compressed; bounded."""
    first = next(parts, b"")
    unpack: Callable[[bytes], bytes]
    if first.startswith(b"\x1f\x8b"):
        unpack = zlib.decompressobj(31).decompress
    elif first.startswith(b"\xfd7zXZ"):
        unpack = lzma.LZMADecompressor().decompress
    elif first.startswith(b"BZh"):
        unpack = bz2.BZ2Decompressor().decompress
    else:
        unpack = bytes
    total = 0
    for data in (first, *parts):
        plain = unpack(data)
        total += len(plain)
        if total > most:
            raise ValueError("the payload is larger than any such package")
        yield plain


class _Plain(io.RawIOBase):
    """An iterator of bytes as a stream to read."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._held = parts, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._held:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._held = part
        taken = self._held[: len(buffer)]
        self._held = self._held[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


__all__ = ["Read", "RunHead", "damage", "members", "read_head"]
