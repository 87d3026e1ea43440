"""Outputs of memory tools given as files: told apart by what stands in them, summed up by library, with what they prove and what not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from doctor.locale import Speak
from doctor.report.style import Style, short
from doctor.text import clean, decode
from doctor.watch import tool_heap, tool_memcheck, tool_snapshot
from doctor.watch.amounts import size
from doctor.watch.toolsummary import SHOWN, ToolSummary, UnreadableError

LIMIT = 512 << 20
"""Bytes of one file."""
_HEAD = 64 << 10
_MEMRAY_BINARY = b"memray"


def summary_of(path: Path) -> ToolSummary:
    """The summary of one file. Raises UnreadableError with a key of the words (`tool_unknown`) or the reason, and OSError."""
    if not path.is_file():
        path.stat()
        raise UnreadableError("not a regular file")
    if path.stat().st_size > LIMIT:
        raise UnreadableError(f"larger than {size(LIMIT)}")
    data = path.read_bytes()
    if tool_snapshot.is_pickle(data):
        return tool_snapshot.snapshot(data)
    head = clean(decode(data[:_HEAD]))
    if data[:_HEAD].lstrip().startswith(b"<?xml") or "<valgrindoutput" in head:
        return tool_memcheck.from_xml(data)
    if data.startswith(_MEMRAY_BINARY):
        raise UnreadableError("a capture of memray; sum it up first: memray stats --json -o stats.json FILE")
    if '"segments"' in head:
        return tool_snapshot.snapshot(data)
    for fits, read in (
        (tool_heap.is_jemalloc, tool_heap.jemalloc), (tool_memcheck.is_text, tool_memcheck.from_text), (tool_heap.is_memray, tool_heap.memray),
        (tool_heap.is_tracemalloc, tool_heap.tracemalloc),
    ):  # fmt: skip
        if fits(head):
            return read(clean(decode(data)))
    raise UnreadableError("tool_unknown")


def lines(summary: ToolSummary, path: str, style: Style, speak: Speak) -> Iterator[str]:
    """The summary for people."""
    yield style.paint("strong", f"{short(path, 300)}: {speak('tool_' + summary.tool)}, {speak('tool_total', size=size(summary.total))}")
    for device in summary.devices:
        idle = device.reserved - device.active
        yield from style.lines(
            speak("snapshot_line", device=device.device, reserved=size(device.reserved), segments=device.segments, active=size(device.active), idle=size(idle),
                  share=f"{idle / device.reserved:.0%}" if device.reserved else "-"), "     ", "   ",
        )  # fmt: skip
    libraries = summary.libraries
    if libraries:
        yield from style.lines(f"{speak('tool_libraries')}: " + ", ".join(f"{name} {size(amount)}" for name, amount in libraries[:SHOWN]), "     ", "   ")
    for place in summary.places[:SHOWN]:
        told = speak("tool_places", size=size(place.size), blocks=place.blocks, place=short(place.where, 300)) if place.blocks is not None else f"{size(place.size)}: {short(place.where, 300)}"
        yield from style.lines(told, "       ", "     ")
    yield from style.lines(speak(f"{summary.tool}_proves"), "     ", f"   {speak('proves')}: ")
    yield from style.lines(speak(f"{summary.tool}_not"), "     ", f"   {speak('proves_not')}: ")


def as_object(summary: ToolSummary, path: str, speak: Speak) -> dict[str, Any]:
    """The summary for programs, bytes."""
    return {
        "file": path, "tool": summary.tool, "total": summary.total, "complete": summary.complete,
        "devices": [vars(device) for device in summary.devices],
        "libraries": [{"library": name, "size": amount} for name, amount in summary.libraries[:100]],
        "places": [{"size": place.size, "blocks": place.blocks, "where": place.where, "library": place.library} for place in summary.places[:100]],
        "proves": speak(f"{summary.tool}_proves"), "proves_not": speak(f"{summary.tool}_not"),
    }  # fmt: skip


def read_all(files: Sequence[str], speak: Speak) -> tuple[list[tuple[str, ToolSummary]], list[str]]:
    """Summaries by file, and what could not be read."""
    found, problems = [], []
    for name in files:
        try:
            found.append((clean(name), summary_of(Path(name))))
        except UnreadableError as problem:
            known = str(problem) == "tool_unknown"
            problems.append(speak("tool_unknown", path=clean(name)) if known else speak("tool_broken", path=clean(name), why=clean(str(problem))))
        except OSError as problem:
            problems.append(speak("tool_broken", path=clean(name), why=problem.strerror))
    return found, problems


__all__ = ["as_object", "lines", "read_all", "summary_of"]
