"""Tells which of many patterns may match somewhere in a piece of text: with hyperscan where it is installed, else by the pieces' 4-byte grams.

Contract: `find` leaves out only patterns that match no line of the piece; what it gives may be more than that, and differ between the two.
A finder may be used by several threads at once.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from doctor.logscan import cache
from doctor.logscan.needle import Needle

LARGE = 2 * 1024 * 1024
"""Bytes from which hyperscan's start-up (its import, and once the compilation of the patterns) is worth it."""

_FORMAT = 1
_GRAM = 4


class Finder(Protocol):
    """`find` yields the indexes of the patterns that may match, each once, in no particular order."""

    def find(self, data: bytes) -> Iterable[int]: ...


class PlainFinder:
    """Looks for a literal only where its first and last four bytes occur: most do not, whatever the text."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._exact = _by_gram(needles, folded=False)
        self._folded = _by_gram(needles, folded=True)

    def find(self, data: bytes) -> set[int]:
        return set(_present(self._exact, data)) | set(_present(self._folded, data.lower()))


_ByGram = dict[int, list[tuple[int, bytes, int]]]
"""First gram -> (last gram, literal, pattern)."""


def _by_gram(needles: Sequence[Needle], folded: bool) -> _ByGram:
    table: _ByGram = {}
    for index, needle in enumerate(needles):
        if needle.folded == folded:
            for literal in needle.literals:
                first, last = (int.from_bytes(part, sys.byteorder) for part in (literal[:_GRAM], literal[-_GRAM:]))
                table.setdefault(first, []).append((last, literal, index))
    return table


def _present(table: _ByGram, data: bytes) -> Iterator[int]:
    if not table:
        return
    grams: set[int] = set()
    for start in range(_GRAM):
        size = (len(data) - start) // _GRAM * _GRAM
        if size > 0:
            grams.update(memoryview(data)[start : start + size].cast("I"))
    for first in table.keys() & grams:
        for last, literal, index in table[first]:
            if last in grams and literal in data:
                yield index


class HyperscanFinder:
    """All patterns in one pass; each is told at most once, so that what stands in every line costs one call a piece."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        """Raises ImportError without hyperscan, and hyperscan's own errors for what it cannot compile."""
        import hyperscan

        self._hyperscan = hyperscan
        self._database = _stored(hyperscan, needles)
        self._local = threading.local()

    def find(self, data: bytes) -> list[int]:
        found: list[int] = []

        def matched(index: int, _start: int, _end: int, _flags: int, _context: Any) -> None:
            found.append(index)

        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = self._hyperscan.Scratch(self._database)
        self._database.scan(data, match_event_handler=matched, scratch=scratch)
        return found


def _stored(hyperscan: Any, needles: Sequence[Needle]) -> Any:
    """The compiled database: from the cache, else made and put there."""
    name = f"patterns-{_key(hyperscan, needles)}.hs"
    stored = cache.load(name)
    if stored is not None:
        try:
            return hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
        except hyperscan.error:
            pass  # of another processor or build: made anew
    database = _compiled(hyperscan, needles)
    cache.save(name, hyperscan.dumpb(database))
    return database


def _key(hyperscan: Any, needles: Sequence[Needle]) -> str:
    import hashlib

    digest = hashlib.sha256(f"{_FORMAT}\0{hyperscan.__version__}\0{_processor()}".encode())
    for needle in needles:
        digest.update(b"\0".join((needle.pattern.encode("utf-8", "replace"), *needle.literals, b"")))
    return digest.hexdigest()[:24]


def _processor() -> str:
    """The instructions that the processor has: a database is compiled for them, and a home may be shared between machines."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            head = file.read(8192)
    except OSError:
        return ""
    return next((line for line in head.split("\n") if line.lower().startswith(("flags", "features"))), "")


def _compiled(hyperscan: Any, needles: Sequence[Needle]) -> Any:
    from doctor.logscan.expression import coarse

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = [hyperscan.HS_FLAG_SINGLEMATCH | (hyperscan.HS_FLAG_CASELESS if needle.folded else 0) for needle in needles]
    expressions = [coarse(needle).encode() for needle in needles]
    database.compile(expressions=expressions, ids=list(range(len(needles))), elements=len(needles), flags=flags)
    return database


def make_finder(needles: Sequence[Needle], size: int) -> Finder:
    """The finder that fits `size` bytes of text."""
    if size < LARGE or not needles:
        return PlainFinder(needles)
    try:
        return HyperscanFinder(needles)
    except Exception:  # noqa: BLE001  hyperscan raises its own bare classes; without it the result is the same, only slower
        return PlainFinder(needles)
