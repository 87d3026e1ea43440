"""What valgrind's memcheck says was lost, and by whose code; from its text output.

Contract: `MemcheckReader` takes the lines of any text in order, keeps sums by the place that allocated, and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from doctor.facts import Facts, Provider
from doctor.host import Host, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex
from doctor.text import clean_line

SIGNS = ("== Memcheck, a memory error detector", "are definitely lost in loss record")

MOST_PLACES = 2000
MOST_FRAMES = 3
"""Frames that are kept of a record: enough to tell whose code it was."""

_RECORD = regex(
    r"==(?P<pid>\d{1,10})== (?P<bytes>[\d,]{1,20}) (?:\([\d,]{1,20} direct, [\d,]{1,20} indirect\) )?bytes in (?P<blocks>[\d,]{1,20}) blocks are definitely lost"
)
_FRAME = regex(r"==\d{1,10}==\s{1,8}(?:at|by) 0x[0-9A-Fa-f]{1,16}: (?P<function>.{1,200}?) \((?:in )?(?P<place>[^()]{1,300})\)$")
_ALLOCATORS = regex(r"(?:malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc|operator new.{0,40}|_Znwm|_Znam|PyMem_\w{1,30}|PyObject_Malloc)$")
_BY_DESIGN = regex(
    r"(?:^|/)(?:ld-linux[\w.-]{0,20}|ld-\d[\w.]{0,9}|libpython[\w.-]{0,20}|python3?(?:\.\d{1,2})?|libgomp[\w.-]{0,20}|libascend\w{0,30}\.so[\w.]{0,9})$"
)
_INTERPRETER = regex(r"_?Py[A-Z_]|_dl_|cfunction_|type_|dict|marshal_|r_object|gomp_")


@dataclass(frozen=True)
class Lost:
    """Blocks that nothing points to any more, by the code that asked for them; `bytes` with those that hang below them."""

    bytes: int
    blocks: int
    frames: tuple[str, ...]
    """`function (library or source file)` of the first frames outside the allocator."""
    by_design: bool
    """Whether the interpreter, the loader or a library's start-up allocated it, where such blocks are no leak."""
    source: str
    line: int

    @property
    def where(self) -> str:
        return " < ".join(self.frames) or "a stack that is not in the text"


@dataclass(frozen=True)
class Memcheck:
    """All records of definitely lost blocks, the largest first."""

    lost: tuple[Lost, ...]
    processes: int = 1
    """Processes that valgrind followed."""
    source: str = ""
    line: int = 0


class MemcheckReader:
    """Records of lost blocks in the lines that it is fed."""

    def __init__(self) -> None:
        self._source = ""
        self._place: tuple[str, int] | None = None
        self._pids: set[str] = set()
        self._open: Lost | None = None
        self._sums: dict[tuple[str, ...], Lost] = {}

    def wants(self, source: str) -> bool:
        """Whether this source is memcheck's output, so that every line of it counts."""
        return source == self._source

    def feed(self, source: str, number: int, line: str) -> None:
        """The next line; `number` counts from 1."""
        if self._open is not None:
            frame = _FRAME.search(line[:600])
            if frame is not None:
                self._frame(self._open, frame)
                return
            self._close()
        if SIGNS[0] in line:
            self._begin(source, number)
        elif SIGNS[1] in line and (record := _RECORD.search(line[:300])):
            self._begin(source, number)
            if len(self._pids) < MOST_PLACES:
                self._pids.add(record["pid"])
            self._open = Lost(_whole(record["bytes"]), _whole(record["blocks"]), (), False, source, number)

    def _begin(self, source: str, number: int) -> None:
        self._source, self._place = source, self._place or (source, number)

    def _frame(self, record: Lost, frame: re.Match[str]) -> None:
        function, place = frame["function"], frame["place"]
        if len(record.frames) >= MOST_FRAMES or (not record.frames and (_ALLOCATORS.match(function) or "vgpreload" in place)):
            return
        first = not record.frames
        by_design = bool(_BY_DESIGN.search(place) or _INTERPRETER.match(function)) if first else record.by_design
        self._open = replace(record, frames=(*record.frames, f"{clean_line(function)[:80]} ({clean_line(place)[-80:]})"), by_design=by_design)

    def _close(self) -> None:
        record, self._open = self._open, None
        if record is None:
            return
        known = self._sums.get(record.frames)
        if known is not None:
            record = replace(known, bytes=known.bytes + record.bytes, blocks=known.blocks + record.blocks)
        elif len(self._sums) >= MOST_PLACES:
            return
        self._sums[record.frames] = record

    def facts(self) -> Iterator[object]:
        """What was lost; nothing where no memcheck output was seen."""
        self._close()
        if self._place is not None:
            yield Memcheck(tuple(sorted(self._sums.values(), key=lambda lost: -lost.bytes)), max(len(self._pids), 1), *self._place)


def _whole(digits: str) -> int:
    return int(digits.replace(",", "") or 0)


def _none(host: Host, facts: Facts) -> Unavailable:
    return Unavailable(Memcheck.__name__, Why.MISSING, "no log of memcheck was given")


PROVIDERS: tuple[Provider[Any], ...] = (Provider(Memcheck, _none),)
