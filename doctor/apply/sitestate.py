"""The files of one Python environment: which belong to a package, a copy of them, and the way back to it without pip and without a network.

Contract: only paths inside the environment's prefix are read into a copy, removed or written; links are copied as links and never followed.
`restore` is harmless where everything is as it was, and may be interrupted and begun again.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import os
import shutil
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from doctor.apply.change import ChangeError
from doctor.facts.distributions import Distribution, normalised, read_site
from doctor.host.live import LiveHost

MARK = ".ascend-doctor-installing"
"""Lies in the first site-packages folder from before the first change until everything is verified or put back."""

MAKING, UNDOING = "making", "undoing"
MOST_FILES = 2_000_000
CACHE = "__pycache__"


@dataclass(frozen=True)
class Places:
    """Where an environment keeps its packages: `sites` and `scripts` lie inside `prefix`."""

    prefix: str
    sites: tuple[str, ...]
    scripts: str

    @property
    def mark(self) -> str:
        return f"{self.sites[0]}/{MARK}"

    def holds(self, path: str) -> bool:
        return os.path.normpath(path).startswith(self.prefix.rstrip("/") + "/")


def mark(places: Places, state: str) -> None:
    """Says on the disk that something is under way."""
    with open(places.mark, "w", encoding="utf-8") as file:
        file.write(state + "\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(places.sites[0])


def marked(places: Places) -> str:
    """What is under way: `MAKING`, `UNDOING`, "" for nothing."""
    try:
        with open(places.mark, encoding="utf-8", errors="replace") as file:
            return UNDOING if file.read(16).strip() == UNDOING else MAKING
    except FileNotFoundError:
        return ""


def distributions(places: Places, names: Iterable[str]) -> dict[str, list[Distribution]]:
    """The installed distributions of these names (normalised), in the order of the sites."""
    wanted, host = set(names), LiveHost("/")
    found: dict[str, list[Distribution]] = {name: [] for name in wanted}
    for site in places.sites:
        read = read_site(host, site)
        for one in read.distributions if read is not None else ():
            if normalised(one.name) in wanted:
                found[normalised(one.name)].append(one)
    return found


def record(places: Places, distribution: Distribution) -> list[tuple[str, int | None]]:
    """(absolute path, size as recorded) of every file of the distribution, by its RECORD. Raises `ChangeError` where it has none."""
    site = os.path.dirname(distribution.path)
    try:
        with open(f"{distribution.path}/RECORD", encoding="utf-8", errors="surrogateescape", newline="") as file:
            rows = [row for row in csv.reader(file) if row and row[0]]
    except (OSError, csv.Error):
        raise ChangeError(f"{distribution.name} {distribution.version} has no list of its files ({distribution.path}/RECORD), so it could not be put back") from None
    found = []
    for row in rows:
        path = os.path.normpath(os.path.join(site, row[0]))
        if not places.holds(path):
            raise ChangeError(f"{distribution.name} owns {path}, outside of {places.prefix}")
        size = int(row[2]) if len(row) > 2 and row[2].isascii() and row[2].isdecimal() and len(row[2]) < 16 else None
        found.append((path, size))
    return found


def whole(places: Places, distribution: Distribution) -> bool:
    """Whether every file that its RECORD names is there, in its size; compiled caches do not count."""
    try:
        files = record(places, distribution)
    except ChangeError:
        return False
    for path, size in files:
        if CACHE in path.split("/"):
            continue
        try:
            info = os.lstat(path)
        except OSError:
            return False
        if size is not None and stat.S_ISREG(info.st_mode) and info.st_size != size:
            return False
    return True


def files_of(places: Places, names: Iterable[str]) -> list[str]:
    """Every file of these distributions that is there, without compiled caches; sorted."""
    paths: set[str] = set()
    for found in distributions(places, names).values():
        for one in found:
            if not one.path.endswith(".dist-info"):
                raise ChangeError(f"{one.name} was installed without a list of its files ({one.path}), so it could not be put back")
            paths.update(path for path, _ in record(places, one) if CACHE not in path.split("/") and os.path.lexists(path))
            paths.update(entry.path for entry in _scan(one.path) if not entry.is_dir(follow_symlinks=False))
    return sorted(paths)


def elsewhere(places: Places, names: Iterable[str]) -> list[str]:
    """Files of these distributions that lie neither in the sites nor among the scripts (share/, include/), as far as their lists tell."""
    found: set[str] = set()
    folders = tuple(f"{folder}/" for folder in (*places.sites, places.scripts))
    for some in distributions(places, names).values():
        for one in some:
            with contextlib.suppress(ChangeError):
                found.update(path for path, _ in record(places, one) if not path.startswith(folders))
    return sorted(found)


def size_of(paths: Iterable[str]) -> int:
    return sum(os.lstat(path).st_size for path in paths)


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def listing(places: Places) -> list[str]:
    """Every file and link below the sites and the scripts' folder, without compiled caches; sorted."""
    found = [path for folder in (*places.sites, places.scripts) for path in _below(folder)]
    if len(found) > MOST_FILES:
        raise ChangeError(f"{places.prefix} holds more than {MOST_FILES} files")
    return sorted(set(found) - {places.mark})


def _below(folder: str) -> Iterator[str]:
    for entry in _scan(folder):
        if entry.is_dir(follow_symlinks=False):
            if entry.name != CACHE:
                yield from _below(entry.path)
        else:
            yield entry.path


def write_listing(path: str, files: Sequence[str]) -> None:
    data = gzip.compress("\0".join(files).encode("utf-8", "surrogateescape"), 5, mtime=0)
    temporary = f"{path}.part"
    with open(temporary, "wb") as file:
        file.write(data)
        _sync(file)
    os.replace(temporary, path)
    sync_folder(os.path.dirname(path))


def read_listing(path: str) -> list[str] | None:
    """None where it was never finished."""
    try:
        with open(path, "rb") as file:
            text = gzip.decompress(file.read()).decode("utf-8", "surrogateescape")
    except (OSError, EOFError, ValueError):
        return None
    return text.split("\0") if text else []


class _Hashing:
    """A file that counts the SHA-256 of what is written through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self.file.write(data)


def pack(places: Places, paths: Sequence[str], archive: str) -> str:
    """Copies the files into a tar archive, synced to the disk; its SHA-256. Raises `ChangeError` where the disk is too small."""
    folder = os.path.dirname(archive)
    needed, free = size_of(paths) + 2048 * len(paths), shutil.disk_usage(folder).free
    if needed > free:
        raise ChangeError(f"the copy of the replaced packages needs {needed >> 20} MiB in {folder}, {free >> 20} MiB are free")
    with open(archive, "wb") as file:
        hashing = _Hashing(file)
        with tarfile.open(fileobj=hashing, mode="w|", format=tarfile.PAX_FORMAT, dereference=False) as tar:  # type: ignore[call-overload]
            for path in paths:
                tar.add(path, os.path.relpath(path, places.prefix), recursive=False)
        _sync(file)
    sync_folder(folder)
    return hashing.digest.hexdigest()


def checked(archive: str, sha256: str) -> None:
    """Raises `ChangeError` where the archive is not the one that was written."""
    digest = hashlib.sha256()
    try:
        with open(archive, "rb") as file:
            while data := file.read(1 << 20):
                digest.update(data)
    except OSError as problem:
        raise ChangeError(f"the copy of the replaced packages cannot be read: {problem}") from None
    if digest.hexdigest() != sha256:
        raise ChangeError(f"{archive} is not the copy that was made")


def restore(places: Places, archive: str, remove: Iterable[str]) -> None:
    """Removes the files `remove`, with folders that become empty, and puts the copied ones back in their place, mode and time."""
    folders: set[str] = set()
    for path in remove:
        if not places.holds(path):
            raise ChangeError(f"{path} lies outside of {places.prefix}")
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(path)
        folders.add(os.path.dirname(path))
    with tarfile.open(archive, "r:") as tar:
        for member in tar:
            path = os.path.normpath(os.path.join(places.prefix, member.name))
            if not places.holds(path) or not (member.isreg() or member.issym()):
                raise ChangeError(f"an entry of the copy that cannot be: {member.name[:200]}")
            _put_back(tar, member, path)
    for folder in sorted(folders, key=len, reverse=True):
        _prune(places, folder)


def _put_back(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    folder = os.path.dirname(path)
    for each in (folder, path):  # the other release may have a file where this one has a folder, or the reverse
        if each == path and os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif each == folder and os.path.lexists(folder) and not os.path.isdir(folder):
            os.unlink(folder)
    os.makedirs(folder, exist_ok=True)
    temporary = f"{folder}/{MARK}-part"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    if member.issym():
        os.symlink(member.linkname, temporary)
    else:
        source = tar.extractfile(member)
        assert source is not None
        with open(temporary, "xb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
            os.fchmod(file.fileno(), member.mode & 0o777)
        os.utime(temporary, (member.mtime, member.mtime))
    os.replace(temporary, path)


def _prune(places: Places, folder: str) -> None:
    """Removes the folder, and those above it, while they hold nothing but compiled caches."""
    while places.holds(folder) and folder not in (*places.sites, places.scripts):
        left = _scan(folder)
        if any(entry.name != CACHE for entry in left):
            return
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
        folder = os.path.dirname(folder)


def sync_tree(places: Places, paths: Iterable[str]) -> None:
    """The restored files reach the disk before anybody hears that they are there."""
    for folder in sorted({os.path.dirname(path) for path in paths}):
        with contextlib.suppress(OSError):
            sync_folder(folder)


def sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def versions(found: Mapping[str, Sequence[Distribution]]) -> dict[str, tuple[str, ...]]:
    """The versions of each name; a distribution without usable metadata counts as "?"."""
    return {name: tuple(one.version or "?" for one in some) for name, some in found.items()}


__all__: Sequence[Any] = [
    "MARK", "Places", "checked", "distributions", "elsewhere", "files_of", "listing", "mark", "marked", "pack", "read_listing", "record", "restore", "size_of",
    "sync_folder", "sync_tree", "versions", "whole", "write_listing",
]  # fmt: skip
