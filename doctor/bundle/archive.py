"""Reads an archive from outside without extracting it: regular files only, counted while they are read, under caps.

Contract: `read_archive` answers with the members in memory or raises `ArchiveError`, whose text names the input, what is wrong with it and
what to do; whatever the bytes are, it ends within the limits. No link in it is followed and nothing is written.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from doctor.bundle import tar, unzip
from doctor.bundle.inflate import Inflated, kind_of
from doctor.host import KIB, MIB
from doctor.host.recorded import NotAHost
from doctor.text import clean


@dataclass(frozen=True)
class Limits:
    """Caps, in members, bytes and seconds. Nothing that a server makes comes near them."""

    members: int = 20_000
    member: int = 64 * MIB
    total: int = 1024 * MIB
    kept: int = 384 * MIB
    ratio: int = 200
    """Bytes that one byte of the archive may become, once it has become `grace`."""
    grace: int = MIB
    seconds: float = 60.0
    name: int = 1024
    part: int = 255
    depth: int = 40
    long_member: int = 8 * MIB
    """Of a longer one only `head` and `tail` are kept."""
    head: int = 256 * KIB
    tail: int = 4 * MIB


class ArchiveError(NotAHost):
    """The archive is damaged, hostile, or none. A sentence for people, with the remedy."""


@dataclass
class Archive:
    """The regular files of an archive, by name; `passed_over` are (name, kind) of links and the like."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    """Symbolic links and where they point, as text."""

    def get(self, name: str, limit: int) -> bytes | None:
        """At most `limit` bytes of a file: `doctor.host.recorded.Members`."""
        data = self.files.get(name)
        return None if data is None else data[: max(limit, 0)]

    def below(self, prefix: str) -> Archive:
        """What lies below this folder, as an archive of its own."""

        def inside(names: dict[str, bytes]) -> dict[str, bytes]:
            return {name[len(prefix) :]: data for name, data in names.items() if name.startswith(prefix)}

        links = {name[len(prefix) :]: target for name, target in self.links.items() if name.startswith(prefix)}
        sizes = {name[len(prefix) :]: size for name, size in self.sizes.items() if name.startswith(prefix)}
        return Archive(self.name, inside(self.files), sizes, self.passed_over, links)

    def top(self) -> str:
        """The one folder that everything lies in, with its slash; "" where there is none."""
        tops = {name.partition("/")[0] + "/" for name in (*self.files, *self.links) if "/" in name}
        return tops.pop() if len(tops) == 1 and all("/" in name for name in self.files) else ""


_REMEDIES = {
    "hostile": "It was made to do harm, or is damaged: ask its sender for a new one, and do not unpack it.",
    "damaged": "It is damaged or was cut off on its way: have it sent again.",
    "large": "If you trust its sender, unpack it yourself and name the folder.",
    "type": "Name a bundle of doctor, a snapshot's folder, a sosreport, or the output of asys collect; a log is read with: doctor log FILE",
}


def read_archive(path: Path, limits: Limits = Limits(), clock: Callable[[], float] = time.monotonic) -> Archive:  # noqa: B008  frozen
    """The members of a tar (plain, gz, zst, xz, bz2) or zip file. Raises `ArchiveError`."""
    shown = clean(str(path))
    deadline = clock() + limits.seconds
    archive = Archive(shown)
    try:
        with _opened(path) as file:
            magic = file.read(512)
            file.seek(0)
            kind = kind_of(magic)
            if kind == "zip":
                members = unzip.members(file, limits, clock, deadline)
            elif kind:
                members = tar.members(Inflated(file, kind, limits, clock, deadline), limits)
            else:
                raise tar.Bad("type", "is no archive that doctor reads (tar, tar.gz, tar.zst, tar.xz, zip)")
            _take(members, archive, limits, lambda: clock() > deadline)
    except tar.Bad as bad:
        raise ArchiveError(f"{shown}: {clean(bad.what)}. {_REMEDIES[bad.remedy]}") from None
    except OSError as problem:
        raise ArchiveError(f"{shown}: {problem.strerror or 'could not be read'}. {_REMEDIES['type']}") from None
    return archive


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    info = os.stat(path)
    if not stat.S_ISREG(info.st_mode):
        raise tar.Bad("type", "is not a regular file")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise tar.Bad("type", "is not a regular file")
        yield file


def _take(members: Iterator[tar.Member], archive: Archive, limits: Limits, late: Callable[[], bool]) -> None:
    names: dict[str, str] = {}
    kept = 0
    for count, member in enumerate(members, 1):
        if count > limits.members:
            raise tar.Bad("large", f"holds more than {limits.members} members")
        if late():
            raise tar.Bad("large", f"takes longer than {limits.seconds:.0f} s to read")
        name = _checked(member.name, limits)
        if member.kind == "folder":
            continue
        alike = unicodedata.normalize("NFC", name).casefold()
        if alike in names:
            same = "holds the name {!r} twice" if names[alike] == name else "holds names that differ only in case or accents: {!r}"
            raise tar.Bad("hostile", same.format(name[:200]))
        names[alike] = name
        if member.kind != "file":
            archive.passed_over.append((name, member.kind))
            if member.kind == "symbolic link":
                archive.links[name] = member.target
            continue
        archive.files[name] = member.read()
        archive.sizes[name] = member.size
        kept += len(archive.files[name])
        if kept > limits.kept:
            raise tar.Bad("large", f"unpacks to more than doctor keeps in memory ({limits.kept // MIB} MiB)")
    if not names:
        raise tar.Bad("type", "holds no file")
    _no_file_is_a_folder(archive)


def _checked(name: str, limits: Limits) -> str:
    """The name as a path below nothing. Raises `Bad` for one that leads elsewhere or that no server has."""
    shown = name[:200]
    if name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        raise tar.Bad("hostile", f"holds an absolute name: {shown!r}")
    if "\\" in name or "\0" in name or any(ord(char) < 32 or 127 <= ord(char) < 160 for char in name):
        raise tar.Bad("hostile", f"holds a name with control characters or backslashes: {shown!r}")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise tar.Bad("hostile", f"holds a name that leads out of it: {shown!r}")
    if len(name.encode("utf-8", "surrogatepass")) > limits.name or any(len(part.encode("utf-8", "surrogatepass")) > limits.part for part in parts):
        raise tar.Bad("hostile", f"holds a name that is too long: {shown[:60]!r}…")
    if len(parts) > limits.depth:
        raise tar.Bad("hostile", f"is nested deeper than {limits.depth} folders: {shown[:60]!r}…")
    return "/".join(parts)


def _no_file_is_a_folder(archive: Archive) -> None:
    """`a` and `a/b` cannot both be files; through a link `a`, `a/b` would lie elsewhere."""
    taken = {*archive.files, *(name for name, _ in archive.passed_over)}
    for name in taken:
        at = name.rfind("/")
        while at > 0:
            if name[:at] in taken:
                raise tar.Bad("hostile", f"holds {name[:at][:200]!r} as a file or link and as a folder")
            at = name.rfind("/", 0, at)


__all__ = ["Archive", "ArchiveError", "Limits", "read_archive"]
