"""Opens what a user names as a log: files, compressed files, folders, standard input; and cuts it into cleaned chunks.

Contract: `open_sources` refuses what is no log (device, FIFO given by mistake, unreadable) with `SourceError`, whose text names it and the
remedy; chunks are cleaned UTF-8, bounded, and end at line ends; a line longer than a chunk is cut.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from doctor.logscan.clear import DOCKER, is_clear
from doctor.logscan.scan import Chunk
from doctor.record import dataclass
from doctor.text import clean, decode, docker_message

CHUNK = 1024 * 1024
"""Bytes read at once: large enough for the scanner to be at its full speed, small enough for memory to stay flat."""

LONGEST_LINE = 4 * CHUNK

FOLDER_FILES = 2000
"""Files taken from one folder at the most, newest first."""

FOLDER_DEPTH = 6

_LOG_NAMES = (".log", ".txt", ".out", ".err", ".gz", ".zst", ".md")
_PROFILES = ("op_summary", "op_statistic", "kernel_details", "step_trace_time")
"""How the tables of a profile are named that are read from a folder; other CSV files are no logs."""


class SourceError(ValueError):
    """Something named as a log that cannot be read as one."""


@dataclass(frozen=True)
class Source:
    """One log. `size` in bytes, -1 for standard input and compressed files; `data` where it is in memory already (out of a bundle)."""

    label: str
    path: Path | None
    size: int
    data: bytes | None = None


def open_sources(names: Sequence[str]) -> list[Source]:
    """The sources that the names stand for, in order; folders give the logs in them. Raises `SourceError`."""
    found: list[Source] = []
    for name in names:
        if name == "-":
            found.append(Source("standard input", None, -1))
            continue
        path = Path(name)
        try:
            info = path.stat()
        except (OSError, ValueError) as problem:
            raise SourceError(f"{clean(name)}: {getattr(problem, 'strerror', None) or problem}. Name a log file, a folder, or - for standard input.") from None
        if stat.S_ISDIR(info.st_mode):
            inside = _in_folder(path)
            if not inside:
                raise SourceError(f"{clean(name)}: no log file in this folder (looked for {', '.join(_LOG_NAMES)}, {FOLDER_DEPTH} levels deep).")
            found += inside
        elif stat.S_ISREG(info.st_mode):
            found.append(_file(path, info.st_size))
        elif stat.S_ISFIFO(info.st_mode) and name.startswith(("/dev/fd/", "/proc/self/fd/")):
            found.append(Source(name, path, -1))  # <(command) in a shell
        else:
            raise SourceError(f"{clean(name)}: not a regular file. Name a log file, a folder, or - for standard input.")
    return found


def _file(path: Path, size: int) -> Source:
    if not os.access(path, os.R_OK):
        raise SourceError(f"{clean(str(path))}: may not be read by this user. Run with the rights of its owner, or pipe it in: sudo cat … | doctor log -")
    return Source(clean(str(path)), path, -1 if path.suffix in (".gz", ".zst") else size)


def _in_folder(folder: Path) -> list[Source]:
    found: list[tuple[float, Source]] = []
    for root, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(folders) if len(Path(root).relative_to(folder).parts) < FOLDER_DEPTH else []
        for name in sorted(files):
            path = Path(root, name)
            profile = path.suffix == ".csv" and name.startswith(_PROFILES)
            if ".log" not in name and path.suffix not in _LOG_NAMES and not profile:
                continue
            try:
                info = path.lstat()
                if stat.S_ISREG(info.st_mode) and info.st_size:
                    found.append((info.st_mtime, _file(path, info.st_size)))
            except (OSError, SourceError):
                continue
    found.sort(key=lambda item: -item[0])
    return [source for _, source in reversed(found[:FOLDER_FILES])]


def chunks(source: Source) -> Iterator[Chunk]:
    """The source's chunks. A broken or truncated compressed file gives what could be read, then `SourceError`."""
    stream = _open(source)
    try:
        yield from _cut(stream, source.label)
    except (OSError, EOFError, zlib.error) as problem:
        raise SourceError(f"{source.label}: damaged or not what its name says: {problem}") from None
    finally:
        if source.path is not None:
            stream.close()


def all_chunks(sources: Iterable[Source], problems: list[str], heard: Callable[[int], None]) -> Iterator[Chunk]:
    """The chunks of all sources; `heard` gets the bytes of each. One that cannot be read to its end is told in `problems`, and the next follows."""
    for source in sources:
        try:
            for chunk in chunks(source):
                heard(len(chunk.data))
                yield chunk
        except SourceError as problem:
            problems.append(clean(str(problem)))


def _open(source: Source) -> IO[bytes]:
    if source.data is not None:
        return io.BytesIO(source.data)
    if source.path is None:
        return sys.stdin.buffer
    try:
        plain = open(source.path, "rb", buffering=0)  # noqa: SIM115  closed by the caller
    except OSError as problem:
        raise SourceError(f"{source.label}: {problem.strerror}") from None
    magic = plain.read(4) if source.size < 0 and not source.label.startswith(("/dev/fd/", "/proc/")) else b""
    if magic:
        plain.seek(0)
    if magic[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=plain)  # type: ignore[return-value]
    if magic == b"\x28\xb5\x2f\xfd":
        return _zstd(plain, source.label)
    return plain


def _zstd(plain: Any, label: str) -> IO[bytes]:
    try:
        import zstandard
    except ImportError:
        raise SourceError(f"{label}: reading zstd needs the package zstandard: pip install zstandard, or: zstd -dc FILE | doctor log -") from None
    reader: IO[bytes] = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(plain, read_across_frames=True)
    return reader


def _cut(stream: IO[bytes], label: str) -> Iterator[Chunk]:
    blocks = _blocks(stream)
    piece = next(blocks, b"")
    if piece[:2] in (b"\xff\xfe", b"\xfe\xff"):
        # A UTF-16 log is a small one that an editor saved: read at once, since its line ends are not single bytes.
        yield _chunk(label, decode(piece + b"".join(islice(blocks, 64))), 1, whole=True)
        return
    number = 1
    while piece:
        following = next(blocks, b"")
        chunk = _bytes_chunk(label, piece, number, whole=number == 1 and not following)
        yield chunk
        number += chunk.lines
        piece = following


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Pieces that end at line ends; a line without an end in LONGEST_LINE bytes is cut."""
    rest = b""
    while block := _fill(stream):
        data = rest + block
        end = data.rfind(b"\n") + 1
        if not end and len(data) < LONGEST_LINE:
            rest = data
            continue
        end = end or len(data)
        yield data[:end]
        rest = data[end:]
    if rest:
        yield rest


def _fill(stream: IO[bytes]) -> bytes:
    """CHUNK bytes, or what is left: a pipe gives less at a time."""
    parts: list[bytes] = []
    wanted = CHUNK
    while wanted and (part := stream.read(wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def _bytes_chunk(label: str, piece: bytes, number: int, *, whole: bool) -> Chunk:
    if is_clear(piece):
        return Chunk(label, piece if piece.endswith(b"\n") else piece + b"\n", number, whole)
    return _chunk(label, decode(piece), number, whole=whole)


def _chunk(label: str, text: str, number: int, *, whole: bool) -> Chunk:
    if DOCKER.decode() in text:
        text = "\n".join(map(_opened, text.split("\n")))
    data = clean(text).encode("utf-8", "replace")
    return Chunk(label, data if data.endswith(b"\n") else data + b"\n", number, whole)


def _opened(line: str) -> str:
    """What stands in a line of Docker's json-file log, without its escapes; one line stays one line."""
    return docker_message(line).rstrip("\n").replace("\n", " ") if line.startswith(DOCKER.decode()) else line


def text_chunk(text: str, label: str) -> Chunk:
    """A text that is already in memory as one chunk."""
    return _chunk(label, text, 1, whole=True)
