"""The earliest error in a node's logs, with its time: between nodes, whoever failed first is nearest to the cause.

Contract: pure but for reading the sources, bounded by `LIMIT` a log; an orderly end is no error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from doctor.fleet.node import FirstError
from doctor.logscan.prefix import message
from doctor.logscan.sources import Source, all_chunks
from doctor.text import clean_line

LIMIT = 64 * 1024 * 1024
"""Bytes of one log that are looked through."""

_ERROR = re.compile(rb"(?:^|[\s:\]])(?:ERROR|CRITICAL|FATAL)\b|\[ERROR\]|^\S{0,60}(?:Error|Exception)\b|Traceback \(most recent|\[PID: ?\d+\].{0,120}E[A-Z0-9]{5}\b|(?<![A-Z0-9])E[IEJLZ]\d{4}(?!\d)", re.MULTILINE)
_NO_ERROR = re.compile(rb"0 errors?\b|error(?:s|_count)?\s*[=:]\s*0\b|KeyboardInterrupt|CancelledError|EngineDeadError", re.IGNORECASE)
_TIME = re.compile(
    r"(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)[T _-](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?(?:\.\d{1,3})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
    r"|(?P<month2>\d\d)-(?P<day2>\d\d) (?P<hour2>\d\d):(?P<minute2>\d\d):(?P<second2>\d\d)"
)
_RANK = re.compile(r"(?i)\b(?:rank[ _=:\[]{0,3}|Worker_?(?:TP|DP|PP|EP)?|EngineCore_?DP)(?P<rank>\d{1,5})")


def first_error(sources: Sequence[Source], year: int | None = None) -> FirstError | None:
    """The earliest by its time; among those without a time, the first in the first log."""
    found = [error for source in sources if (error := _of_source(source, year)) is not None]
    timed = [error for error in found if error.time is not None]
    return min(timed, key=lambda error: error.time or datetime.max.replace(tzinfo=timezone.utc)) if timed else found[0] if found else None


def _of_source(source: Source, year: int | None) -> FirstError | None:
    read, last = 0, None
    for chunk in all_chunks([source], [], lambda _: None):
        for found in _ERROR.finditer(chunk.data):
            start = chunk.data.rfind(b"\n", 0, found.start() + 1) + 1
            end = chunk.data.find(b"\n", found.end())
            line = chunk.data[start : end if end >= 0 else len(chunk.data)][:4096]
            if _NO_ERROR.search(line):
                continue
            text = clean_line(line.decode("utf-8", "replace"))
            before = chunk.data[max(0, start - 8192) : start].decode("utf-8", "replace")
            time = moment(text, year) or _last_moment(before, year) or last
            rank = _RANK.search(text)
            number = chunk.first + chunk.data.count(b"\n", 0, start)
            return FirstError(message(text)[:300] or text[:300], chunk.source, number, time, rank["rank"] if rank else "")
        read += len(chunk.data)
        if read > LIMIT:
            break
        last = _last_moment(chunk.data[-8192:].decode("utf-8", "replace"), year) or last
    return None


def _last_moment(text: str, year: int | None) -> datetime | None:
    for line in reversed(text.split("\n")):
        if (time := moment(line, year)) is not None:
            return time
    return None


def moment(text: str, year: int | None = None) -> datetime | None:
    """The first time in a line; vLLM's own form has no year: `year`, else this one. A time without a zone counts as UTC."""
    found = _TIME.search(text[:400])
    if found is None:
        return None
    month, day, hour, minute, second = (int(found[name] or found[f"{name}2"]) for name in ("month", "day", "hour", "minute", "second"))
    micro = int((found["part"] or "0").ljust(6, "0")[:6])
    try:
        time = datetime(int(found["year"] or year or datetime.now(timezone.utc).year), month, day, hour, minute, second, micro, timezone.utc)
        return time.replace(tzinfo=_zone(found["zone"])) if found["zone"] else time
    except ValueError:
        return None


def _zone(text: str) -> timezone:
    if text == "Z":
        return timezone.utc
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


__all__ = ["first_error", "moment"]
