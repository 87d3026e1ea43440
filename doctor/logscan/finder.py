"""Tells which of many patterns may match somewhere in a piece of text: with hyperscan where it is installed, else by the pieces' 4-byte grams.

Contract: `find` leaves out only patterns that match no line of the piece; what it gives may be more than that, and differ between the two.
A finder may be used by several threads at once.
"""

from __future__ import annotations

import marshal
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

from doctor.logscan import cache
from doctor.logscan.needle import Needle

LARGE = 2 * 1024 * 1024
"""Bytes from which hyperscan's start-up (its import, and once the compilation of the patterns) is worth it."""

_FORMAT = 2
"""Changed with what the patterns are made into (`expression.py`, `window.py`)."""
_GRAM = 4


class Finder(Protocol):
    """`find` yields the indexes of the patterns that may match, each once, in no particular order. `drop` tells it which are not asked for any
    more: it may leave them out. `everyday` are those that match healthy lines."""

    @property
    def everyday(self) -> frozenset[int]: ...

    def find(self, data: bytes) -> Collection[int]: ...

    def drop(self, indexes: Collection[int]) -> None: ...


class PlainFinder:
    """Looks for a literal only where its first and last four bytes occur: most do not, whatever the text."""

    everyday: frozenset[int] = frozenset()

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._exact, self._folded = _tables(needles)

    def find(self, data: bytes) -> set[int]:
        return set(_present(self._exact, data)) | set(_present(self._folded, data.lower()))

    def drop(self, indexes: Collection[int]) -> None:
        """Nothing would be saved."""


_ByGram = dict[int, list[tuple[int, bytes, int]]]
"""First gram -> (last gram, literal, pattern)."""


MANY = 200
"""Needles from which reading their tables is faster than making them."""


def _tables(needles: Sequence[Needle]) -> tuple[_ByGram, _ByGram]:
    """Of the needles that are as they stand, and of the folded ones: of many, from the cache, else made and put there."""
    if len(needles) < MANY:
        return _by_gram(needles, folded=False), _by_gram(needles, folded=True)
    name = f"grams-{_key(sys.byteorder, needles)}"
    try:
        exact, folded = marshal.loads(cache.load(name) or b"")
        return exact, folded
    except (ValueError, EOFError, TypeError):
        pass
    tables = _by_gram(needles, folded=False), _by_gram(needles, folded=True)
    cache.save(name, marshal.dumps(tables))
    return tables


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
    """All patterns in one pass; each is told at most once, so that what stands in every line costs one call a piece.

    Patterns that match what a healthy server prints all the time lie in a database of their own, from which `drop` takes them.
    """

    def __init__(self, needles: Sequence[Needle]) -> None:
        """Raises ImportError without hyperscan, and hyperscan's own errors for what it cannot compile."""
        import hyperscan

        self._hyperscan = hyperscan
        self._needles = needles
        everyday, self._rare, self._often = _stored(hyperscan, needles)
        self.everyday: frozenset[int] = frozenset(everyday)
        self._local = threading.local()

    def find(self, data: bytes) -> list[int]:
        found: list[int] = []

        def matched(index: int, _start: int, _end: int, _flags: int, _context: Any) -> None:
            found.append(index)

        for database in (self._rare, self._often):
            if database is not None:
                database.scan(data, match_event_handler=matched, scratch=self._scratch(database))
        return found

    def drop(self, indexes: Collection[int]) -> None:
        if not self.everyday.isdisjoint(indexes):
            self.everyday -= frozenset(indexes)
            self._often = _compiled(self._hyperscan, self._needles, sorted(self.everyday))

    def _scratch(self, database: Any) -> Any:
        """Room to work in: one for each thread, and for each database."""
        name = "rare" if database is self._rare else "often"
        of, scratch = getattr(self._local, name, (None, None))
        if of is not database:
            scratch = self._hyperscan.Scratch(database)
            setattr(self._local, name, (database, scratch))
        return scratch


def _stored(hyperscan: Any, needles: Sequence[Needle]) -> tuple[Sequence[int], Any, Any]:
    """The everyday needles' indexes, and the compiled databases of the others and of them: from the cache, else made and put there."""
    name = f"patterns-{_key(f'{hyperscan.__version__}{_processor()}', needles)}.hs"
    stored = cache.load(name)
    if stored is not None:
        try:
            indexes, rare, often = marshal.loads(stored)
            return indexes, *(hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK) if data else None for data in (rare, often))
        except (hyperscan.error, ValueError, EOFError, TypeError):
            pass  # of another processor or build: made anew
    everyday = [index for index, needle in enumerate(needles) if needle.everyday]
    others = sorted(set(range(len(needles))) - set(everyday))
    databases = [_compiled(hyperscan, needles, chosen) for chosen in (others, everyday)]
    cache.save(name, marshal.dumps((everyday, *(hyperscan.dumpb(database) if database else b"" for database in databases))))
    return everyday, *databases


def _key(made_for: str, needles: Sequence[Needle]) -> str:
    """The name of what is made of these needles, in their order, for a processor or the like."""
    import hashlib

    told = [f"{_FORMAT}\0{made_for}".encode(), *(b"\0".join((needle.pattern.encode("utf-8", "replace"), *needle.literals)) for needle in needles)]
    return hashlib.sha256(b"\0\0".join(told)).hexdigest()[:24]


def _processor() -> str:
    """The instructions that the processor has: a database is compiled for them, and a home may be shared between machines."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            head = file.read(8192)
    except OSError:
        return ""
    return next((line for line in head.split("\n") if line.lower().startswith(("flags", "features"))), "")


def _compiled(hyperscan: Any, needles: Sequence[Needle], chosen: Sequence[int]) -> Any:
    """None for none."""
    from doctor.logscan.expression import expressions

    if not chosen:
        return None
    found = [(text.encode(), index) for index in chosen for text in expressions(needles[index])]
    flags = [hyperscan.HS_FLAG_SINGLEMATCH | (hyperscan.HS_FLAG_CASELESS if needles[index].folded else 0) for _, index in found]
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(expressions=[text for text, _ in found], ids=[index for _, index in found], elements=len(found), flags=flags)
    return database


def make_finder(needles: Sequence[Needle], size: int) -> Finder:
    """The finder that fits `size` bytes of text."""
    if size < LARGE or not needles:
        return PlainFinder(needles)
    try:
        return HyperscanFinder(needles)
    except Exception:  # noqa: BLE001  hyperscan raises its own bare classes; without it the result is the same, only slower
        return PlainFinder(needles)
