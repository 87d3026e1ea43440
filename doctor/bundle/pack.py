"""Writes the archive of a bundle: one new file that only its owner reads, complete or not there at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import secrets
import stat
import tarfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

UNREDACTED = "UNREDACTED"
ENDINGS = (".tar.zst", ".tar.gz", ".tgz")
MODE = 0o600
LEVEL = 9
"""Of zstd: near the best ratio, and still faster than the disk."""


class PackError(OSError):
    """The archive could not be written. The message says what to do."""


def default_name(time: datetime, profile: str) -> str:
    """`doctor-bundle-20261130-093838.tar.zst`; the profile stands in the name where it is not the usual one."""
    mark = {"raw": f"-{UNREDACTED}", "public": "-public"}.get(profile, "")
    return f"doctor-bundle-{time:%Y%m%d-%H%M%S}{mark}.tar.zst"


def marked(path: Path, profile: str) -> Path:
    """The path, with UNREDACTED in its name where nothing was masked."""
    if profile != "raw" or UNREDACTED in path.name:
        return path
    ending = next((each for each in ENDINGS if path.name.endswith(each)), "")
    return path.with_name(f"{path.name.removesuffix(ending)}-{UNREDACTED}{ending}")


def write(members: Sequence[tuple[str, bytes]], path: Path, time: datetime) -> int:
    """Writes the members and returns the archive's size in bytes. Raises `PackError`; then there is no file.

    Neither owner nor group, mode or time of anything on this machine stands in the headers.
    """
    if not path.name.endswith(ENDINGS):
        raise PackError(f"{path}: the name of a bundle ends in {' or '.join(ENDINGS[:2])}")
    folder = path.parent
    try:
        _refuse_unsafe(folder)
        temporary = folder / f".{path.name}.{secrets.token_hex(6)}.part"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, MODE)
    except OSError as problem:
        raise _told(path, problem) from None
    try:
        with open(descriptor, "wb") as file:
            with _compressed(file, path.name) as stream, tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as archive:
                for name, data in members:
                    archive.addfile(_header(name, len(data), int(time.timestamp())), io.BytesIO(data))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        # A link fails where the name is taken, whoever took it in the meantime; a rename would not.
        os.link(temporary, path)
    except OSError as problem:
        raise _told(path, problem) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return size


def _told(path: Path, problem: OSError) -> PackError:
    if isinstance(problem, PackError):
        return problem
    if isinstance(problem, FileExistsError):
        return PackError(f"{path} is there already: name another file")
    return PackError(f"{path}: {problem.strerror or problem}: name a file in a folder that can be written to")


def _refuse_unsafe(folder: Path) -> None:
    """As root, nothing is written into a folder in which others may exchange it under our hands."""
    info = folder.stat()
    if os.geteuid() == 0 and info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX:
        raise PackError(f"{folder}: everyone may write here: name a folder of your own")


def _header(name: str, size: int, time: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mtime, header.mode = size, time, MODE
    return header


@contextlib.contextmanager
def _compressed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if name.endswith(".zst"):
        import zstandard

        with zstandard.ZstdCompressor(level=LEVEL).stream_writer(file, closefd=False) as stream:
            yield stream
    else:
        # Without a file name and time of its own in the header.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


__all__ = ["ENDINGS", "PackError", "default_name", "marked", "write"]
