"""memray statistics, tracemalloc statistics and jemalloc heap profiles, summed up. Pure; raises only UnreadableError."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from doctor.watch.toolsummary import Place, ToolSummary, UnreadableError, largest, library_of

MOST = 200_000

_UNITS = {"B": 1.0, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
_LOCATION = re.compile(r"^\s{0,40}-\s(.{1,600}) -> ([\d.]{1,20})\s?([KkMGT]?i?B)\s{0,20}$")
_TRACED = re.compile(r"^\s{0,20}(?:#\d{1,6}: )?(?P<file>.{1,600}?):(?P<line>\d{1,7}): size=(?P<size>[\d.]{1,20}) (?P<unit>[KMGT]?i?B)(?: \([+-][^)]{1,40}\))?, count=(?P<count>\d{1,12})")


def is_memray(head: str) -> bool:
    return "Total memory allocated:" in head or '"top_locations_by_size"' in head


def memray(text: str) -> ToolSummary:
    """`memray stats`, as text or --json."""
    if text.lstrip().startswith("{"):
        return _memray_json(text)
    peak = re.search(r"Peak memory usage:\s{1,20}([\d.]{1,20})\s?([KkMGT]?B)", text)
    whole = peak or re.search(r"Total memory allocated:\s{1,20}([\d.]{1,20})\s?([KkMGT]?B)", text)
    by_size = text.partition("(by size)")[2].partition("(by number")[0]
    places = []
    for line in by_size.split("\n")[:1000]:
        found = _LOCATION.match(line)
        if found is not None:
            places.append(Place(_amount(found[2], found[3]), None, found[1], library_of(_file_of(found[1]))))
    return ToolSummary("memray", _amount(whole[1], whole[2]) if whole else 0.0, largest(places))


def _memray_json(text: str) -> ToolSummary:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UnreadableError(f"not JSON: {problem}") from None
    rows = record.get("top_locations_by_size") if isinstance(record, dict) else None
    if not isinstance(rows, list):
        raise UnreadableError("no top_locations_by_size in it; write it with: memray stats --json -o stats.json FILE.bin")
    places = [
        Place(float(row["size"]), None, str(row["location"])[:600], library_of(_file_of(str(row["location"]))))
        for row in rows[:MOST]
        if isinstance(row, dict) and isinstance(row.get("size"), int | float) and "location" in row
    ]
    metadata = record.get("metadata")
    peak: Any = metadata.get("peak_memory") if isinstance(metadata, dict) else None
    total = peak if isinstance(peak, int | float) else record.get("total_bytes_allocated", 0)
    return ToolSummary("memray", float(total) if isinstance(total, int | float) else 0.0, largest(places))


def _file_of(location: str) -> str:
    """function:file:line."""
    return location.partition(":")[2].rpartition(":")[0] or location


def is_tracemalloc(head: str) -> bool:
    return any(_TRACED.match(line) for line in head.split("\n")[:200])


def tracemalloc(text: str) -> ToolSummary:
    """Lines of `snapshot.statistics("lineno")`, as Python prints them."""
    places = []
    for line in text.split("\n")[:MOST]:
        found = _TRACED.match(line)
        if found is not None:
            places.append(Place(_amount(found["size"], found["unit"]), int(found["count"]), f"{found['file']}:{found['line']}", library_of(found["file"])))
    return ToolSummary("tracemalloc", sum(place.size for place in places), largest(places))


def _amount(number: str, unit: str) -> float:
    try:
        return float(number) * _UNITS.get(unit, 1.0)
    except ValueError:
        return 0.0


def is_jemalloc(head: str) -> bool:
    return bool(re.match(r"heap_v2/\d{1,15}\s", head))


_OWN = re.compile(r"libjemalloc|libc[.-]|libc\.so|ld-linux|vgpreload|libstdc\+\+")
_COUNTS = re.compile(r"^\s{1,8}t\*: (\d{1,18}): (\d{1,18}) \[")
_MAPPING = re.compile(r"^([0-9a-f]{1,16})-([0-9a-f]{1,16}) (\S{4}) [0-9a-f]{1,16} \S{1,12} \d{1,20} {0,40}(\S.{0,400})$")


def jemalloc(text: str) -> ToolSummary:
    """A `heap_v2` profile: stacks of sampled live blocks, scaled as jeprof does, named by the first library outside the allocator."""
    rate = int(re.match(r"heap_v2/(\d{1,15})", text)[1])  # type: ignore[index]
    body, _, maps = text.partition("MAPPED_LIBRARIES:")
    libraries = _Libraries(maps)
    sums: dict[str, list[float]] = {}
    for stack, count, size in _stacks(body):
        scale = 1 / (1 - math.exp(-(size / count) / rate)) if count and rate and size else 1.0
        where = " < ".join(dict.fromkeys(name for address in stack[:40] if (name := libraries.named(address)) and not _OWN.search(name))) or "unknown"
        known = sums.setdefault(where[:400], [0.0, 0.0])
        known[0] += size * scale
        known[1] += count * scale
    places = [Place(size, round(count), where, where.partition(" < ")[0]) for where, (size, count) in sums.items()]
    return ToolSummary("jemalloc", sum(place.size for place in places), largest(places), complete=bool(maps))


def _stacks(body: str) -> Iterator[tuple[list[int], int, int]]:
    stack: list[int] | None = None
    for line in body.split("\n")[:MOST]:
        if line.startswith("@"):
            stack = [int(word, 16) for word in line[1:4000].split() if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", word)]
        elif stack is not None and (counts := _COUNTS.match(line)) is not None:
            yield stack, int(counts[1]), int(counts[2])
            stack = None


class _Libraries:
    """Which library an address lies in."""

    def __init__(self, maps: str) -> None:
        rows = sorted((int(row[1], 16), int(row[2], 16), row[4]) for line in maps.split("\n")[:MOST] if (row := _MAPPING.match(line)) is not None)
        self._rows = [row for row in rows if row[2].startswith("/")]
        self._starts = [start for start, _, _ in self._rows]

    def named(self, address: int) -> str:
        at = bisect_right(self._starts, address) - 1
        return self._rows[at][2].rpartition("/")[2] if at >= 0 and address <= self._rows[at][1] else ""


__all__ = ["is_jemalloc", "is_memray", "is_tracemalloc", "jemalloc", "memray", "tracemalloc"]
