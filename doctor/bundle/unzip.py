"""The members of a zip file, whose directory is read under a cap and whose sizes are not believed."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Protocol

from doctor.bundle.inflate import BLOCK, Bad, Caps
from doctor.bundle.tar import Member, Sizes

LARGEST_DIRECTORY = 8 * 2**20
"""Bytes of the central directory: 20 000 members with names of 350 bytes."""
END = b"PK\x05\x06"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError, MemoryError, struct.error)
"""What zipfile raises for bytes that are no zip file."""


class ZipCaps(Caps, Sizes, Protocol):
    """The limits that matter here."""

    @property
    def members(self) -> int: ...


def members(file: IO[bytes], limits: ZipCaps, clock: Callable[[], float], deadline: float) -> Iterator[Member]:
    """Every member, in order. Raises `Bad`."""
    _check_end(file, limits)
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            if len(infos) > limits.members:
                raise Bad("large", f"holds more than {limits.members} members")
            counted = _Counted(limits, clock, deadline, file.seek(0, 2))
            for info in infos:
                yield _member(archive, info, limits, counted)
    except _BROKEN as problem:
        raise Bad("damaged", f"cannot be unpacked ({problem})") from None


def _check_end(file: IO[bytes], limits: ZipCaps) -> None:
    size = file.seek(0, 2)
    file.seek(max(0, size - 65557))
    data = file.read()
    at = data.rfind(END)
    if at < 0 or len(data) - at < 22:
        raise Bad("damaged", "ends without the directory of a zip file")
    count, directory = int.from_bytes(data[at + 10 : at + 12], "little"), int.from_bytes(data[at + 12 : at + 16], "little")
    if count == 0xFFFF or directory == 0xFFFFFFFF or data.rfind(b"PK\x06\x07", 0, at) >= 0:
        raise Bad("large", f"holds more than {limits.members} members, or is larger than 4 GiB")
    if count > limits.members or directory > LARGEST_DIRECTORY:
        raise Bad("large", f"holds more than {limits.members} members")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: ZipCaps, counted: _Counted) -> Member:
    name = info.orig_filename
    mode = info.external_attr >> 16
    if info.flag_bits & 1:
        raise Bad("type", f"is encrypted: {name[:200]!r}")
    if info.is_dir():
        return Member(name, "folder", 0, bytes)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return Member(name, "symbolic link" if stat.S_ISLNK(mode) else "special file", 0, bytes)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Bad("type", f"is packed in a way that doctor does not read: {name[:200]!r}")
    if info.file_size > limits.member:
        raise Bad("large", f"holds a file of more than {limits.member // 2**20} MiB: {name[:200]!r}")
    return Member(name, "file", info.file_size, lambda: _content(archive, info, limits, counted))


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: ZipCaps, counted: _Counted) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        with archive.open(info) as stream:
            while piece := stream.read(BLOCK):
                size += len(piece)
                counted.add(len(piece), info.compress_size, size)
                if size > limits.member:
                    raise Bad("hostile", f"holds a file that is larger than it says: {info.orig_filename[:200]!r}")
                parts.append(piece)
    except _BROKEN as problem:
        raise Bad("damaged", f"cannot be unpacked ({problem})") from None
    if size != info.file_size:
        raise Bad("damaged", f"holds a file of another size than it says: {info.orig_filename[:200]!r}")
    return b"".join(parts)


class _Counted:
    def __init__(self, limits: ZipCaps, clock: Callable[[], float], deadline: float, packed: int) -> None:
        self._limits, self._clock, self._deadline, self._packed = limits, clock, deadline, packed
        self._made = 0

    def add(self, size: int, packed: int, of_member: int) -> None:
        self._made += size
        if self._clock() > self._deadline:
            raise Bad("large", f"takes longer than {self._limits.seconds:.0f} s to read")
        if self._made > self._limits.total:
            raise Bad("large", f"unpacks to more than {self._limits.total // 2**20} MiB")
        ratio = self._limits.ratio
        if (of_member > self._limits.grace and of_member > ratio * max(packed, 1)) or (self._made > self._limits.grace and self._made > ratio * self._packed):
            raise Bad("hostile", f"unpacks to more than {ratio} times its size")


__all__ = ["members"]
