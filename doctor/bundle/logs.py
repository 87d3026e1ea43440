"""Which logs go into a bundle, and which lines of them: the head, the newest, those around the first error and around every evidence.

Contract: bounded in what is read and what is kept, whatever the logs hold; a place where lines were left out says how many.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from doctor.bundle.collector import reading
from doctor.facts.vllm import vllm_processes
from doctor.finding import Evidence
from doctor.host import KIB, MIB, FileInfo, Host, Kind, Output, Unavailable
from doctor.logscan.scan import Chunk
from doctor.logscan.sources import Source, SourceError, chunks

KEPT = reading.MOST_OF_ONE_LOG
"""Bytes kept of one log; a shorter one is kept whole."""
MOST_LOGS = reading.MOST_LOGS
MOST_KEPT = reading.MOST_LOG_BYTES
MOST_READ = 512 * MIB
"""Bytes of one log that are gone through."""
HEAD_LINES = 300
"""Versions and arguments stand in the first lines of vLLM's log."""
AROUND_ERROR = 400
AROUND_EVIDENCE = 40
KERNEL = "dmesg"
"""How the kernel's log is called."""

_ERROR = re.compile(reading.FIRST_ERROR)


@dataclass(frozen=True)
class Kept:
    """What is kept of one log. `size` is what it has, in bytes; -1: more than was read."""

    label: str
    text: str
    size: int
    left_out: int
    """Lines."""


def found_logs(host: Host) -> list[Source]:
    """The logs of a live host that are taken unasked: those of running servers, and what `reading.LOGS` names; none of a recording."""
    if not host.live:
        return []
    folders = list(_folders(host))
    paths = [*_of_processes(host), *(path for pattern, newest in reading.LOGS for path in _newest(host, pattern, folders, newest))]
    found = _kernel(host)
    for path in dict.fromkeys(paths):
        info = host.stat(path)
        if isinstance(info, FileInfo) and info.kind is Kind.FILE and info.size:
            found.append(Source(path, Path(path), info.size))
    return found[:MOST_LOGS]


def _kernel(host: Host) -> list[Source]:
    for argv in reading.KERNEL_LOG:
        said = host.run(argv, timeout=reading.KERNEL_LOG_SECONDS)
        if isinstance(said, Output) and (said.exit == 0 or said.truncated) and said.stdout.strip():
            data = said.stdout.encode("utf-8", "replace")
            return [Source(KERNEL, None, len(data), data)]
    return []


def _of_processes(host: Host) -> Iterator[str]:
    processes = host.processes()
    for process in vllm_processes(processes) if not isinstance(processes, Unavailable) else ():
        for number in (1, 2):
            path = host.resolve(f"/proc/{process.pid}/fd/{number}")
            if isinstance(path, str) and not path.startswith(("/dev/", "/proc/", "/sys/")):
                yield path


def _folders(host: Host) -> Iterator[str]:
    """Below which CANN's processes log."""
    processes = host.processes()
    pids = [0, *(process.pid for process in (vllm_processes(processes) if not isinstance(processes, Unavailable) else ()) if process.role == "api")]
    homes = host.list("/home/*")
    bases = ["/root", *(homes if not isinstance(homes, Unavailable) else ())]
    for pid in pids:
        told = host.environ(pid)
        environment = {} if isinstance(told, Unavailable) else told
        yield from (environment[name] for name in ("ASCEND_PROCESS_LOG_PATH",) if environment.get(name, "").startswith("/"))
        if environment.get("ASCEND_WORK_PATH", "").startswith("/"):
            yield posixpath.join(environment["ASCEND_WORK_PATH"], "log")
        if environment.get("HOME", "").startswith("/"):
            bases.append(environment["HOME"])
    yield from (posixpath.join(base, "ascend/log") for base in bases)


def _newest(host: Host, pattern: str, folders: Sequence[str], count: int) -> list[str]:
    """The newest files of that pattern, in all folders together."""
    globs = [pattern.replace("{logs}", folder.rstrip("/")) for folder in folders] if "{logs}" in pattern else [pattern]
    dated: dict[str, float] = {}
    for glob in dict.fromkeys(globs):
        listed = host.list(glob)
        for path in () if isinstance(listed, Unavailable) else listed:
            if isinstance(info := host.stat(path), FileInfo):
                dated[path] = info.mtime or 0.0
    return sorted(dated, key=lambda path: (-dated[path], path))[:count]


def keep(sources: Sequence[Source], evidence: Iterable[Evidence], problems: list[str]) -> list[Kept]:
    """What of each log goes into the bundle. One that cannot be read is told in `problems`."""
    lines: dict[str, list[int]] = {}
    for item in evidence:
        lines.setdefault(item.source, []).extend(number for number in (item.line, item.first, item.last) if number)
    kept: list[Kept] = []
    room = MOST_KEPT
    for source in sources[:MOST_LOGS]:
        try:
            kept.append(_keep(source, sorted(lines.get(source.label, [])), min(KEPT, room)))
        except SourceError as problem:
            problems.append(str(problem))
            continue
        room -= len(kept[-1].text.encode("utf-8", "replace"))
        if room < 64 * KIB:
            break
    problems += [f"{source.label}: left out, there are more logs than a bundle takes" for source in sources[len(kept) :] if source.label not in {each.label for each in kept}]
    return kept


def _keep(source: Source, wanted: list[int], room: int) -> Kept:
    whole: list[bytes] = []
    size, error, last, cut = 0, 0, 0, False
    for chunk in chunks(source):
        size += len(chunk.data)
        if size <= room:
            whole.append(chunk.data)
        if not error and (match := _ERROR.search(chunk.data)):
            error = chunk.first + chunk.data.count(b"\n", 0, match.start())
        last = chunk.first + chunk.data.count(b"\n") - 1
        if size > MOST_READ:
            cut = True
            break
    if size <= room:
        return Kept(source.label, b"".join(whole).decode("utf-8", "replace"), size, 0)
    return _choose(source, wanted, error, last, room, -1 if cut else size)


def _choose(source: Source, wanted: list[int], error: int, last: int, room: int, size: int) -> Kept:
    """The second pass: lines by what they are worth, as far as there is room; the newest take what is left."""
    budget, ranges = room, list[tuple[int, int]]()
    around = [(number - AROUND_EVIDENCE, number + AROUND_EVIDENCE) for number in wanted[:200]]
    if error:
        around.append((error - AROUND_ERROR // 4, error + AROUND_ERROR))
    ranges = _merged([(1, HEAD_LINES), *around])
    parts: dict[int, bytes] = {}
    tail: list[tuple[int, bytes]] = []
    held = 0
    for number, line in _lines(source, last):
        if _within(ranges, number) and budget - len(line) > room // 3:
            parts[number] = line
            budget -= len(line)
            continue
        tail.append((number, line))
        held += len(line)
        if held > 2 * room:
            tail, held = _shortened(tail, room)
    tail, _ = _shortened(tail, budget)
    parts.update(tail)
    return _joined(source.label, parts, last, size)


def _lines(source: Source, last: int) -> Iterator[tuple[int, bytes]]:
    for chunk in chunks(source):
        if chunk.first > last:
            return
        for number, line in enumerate(chunk.data.splitlines(keepends=True), chunk.first):
            yield number, line[: 64 * KIB] + (b"\n" if len(line) > 64 * KIB else b"")


def _shortened(lines: list[tuple[int, bytes]], room: int) -> tuple[list[tuple[int, bytes]], int]:
    """The last lines that fit."""
    held, start = 0, len(lines)
    while start and held + len(lines[start - 1][1]) <= room:
        start -= 1
        held += len(lines[start][1])
    return lines[start:], held


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _within(ranges: list[tuple[int, int]], number: int) -> bool:
    at = bisect_left(ranges, (number + 1,)) - 1
    return at >= 0 and ranges[at][0] <= number <= ranges[at][1]


def _joined(label: str, parts: dict[int, bytes], last: int, size: int) -> Kept:
    written: list[bytes] = []
    before, left_out = 0, 0
    for number in sorted(parts):
        if number > before + 1:
            left_out += number - before - 1
            written.append(_gap(number - before - 1))
        written.append(parts[number])
        before = number
    if last > before:
        left_out += last - before
        written.append(_gap(last - before))
    return Kept(label, b"".join(written).decode("utf-8", "replace"), size, left_out)


def _gap(lines: int) -> bytes:
    return f"[doctor bundle: {lines} lines left out here]\n".encode()


def chunk_of(label: str, text: str) -> Chunk:
    """A kept log, as the scanner takes it."""
    data = text.encode("utf-8", "replace")
    return Chunk(label, data if data.endswith(b"\n") else data + b"\n", 1, whole=True)


__all__ = ["KEPT", "Kept", "MOST_LOGS", "chunk_of", "found_logs", "keep"]
