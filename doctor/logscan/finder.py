"""Finds which of many literals occur in a chunk of bytes, and where: hyperscan where it is installed, else one pass a literal.

Both give the same answer. The pure one costs about 0.2 ms a literal and megabyte, which is faster than starting hyperscan for small texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

LARGE = 2 * 1024 * 1024
"""Bytes from which hyperscan's start-up (import and compilation, some 0.1 s) is worth it."""


class Finder(Protocol):
    """`find` yields (offset, index of the literal) for every occurrence, in no particular order."""

    def find(self, chunk: bytes) -> Iterable[tuple[int, int]]: ...


class PlainFinder:
    """One `bytes.find` pass for each literal."""

    def __init__(self, exact: Sequence[bytes], folded: Sequence[bytes]) -> None:
        self._exact = exact
        self._folded = folded

    def find(self, chunk: bytes) -> Iterator[tuple[int, int]]:
        for index, literal in enumerate(self._exact):
            yield from _occurrences(chunk, literal, index)
        if self._folded:
            lower = chunk.lower()
            for index, literal in enumerate(self._folded, len(self._exact)):
                yield from _occurrences(lower, literal, index)


def _occurrences(chunk: bytes, literal: bytes, index: int) -> Iterator[tuple[int, int]]:
    at = chunk.find(literal)
    while at >= 0:
        yield at, index
        # A line is tried once however often it holds the literal: go on behind its end.
        end = chunk.find(b"\n", at)
        at = chunk.find(literal, end) if end >= 0 else -1


class HyperscanFinder:
    """All literals in one pass of hyperscan."""

    def __init__(self, exact: Sequence[bytes], folded: Sequence[bytes]) -> None:
        import hyperscan

        self._lengths = [len(literal) for literal in (*exact, *folded)]
        flags = [0] * len(exact) + [hyperscan.HS_FLAG_CASELESS] * len(folded)
        self._database: Any = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        expressions = [b"".join(b"\\x%02x" % byte for byte in literal) for literal in (*exact, *folded)]
        self._database.compile(expressions=expressions, ids=list(range(len(expressions))), elements=len(expressions), flags=flags)

    def find(self, chunk: bytes) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        lengths = self._lengths

        def matched(index: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            found.append((end - lengths[index], index))

        self._database.scan(chunk, match_event_handler=matched)
        return found


def make_finder(exact: Sequence[bytes], folded: Sequence[bytes], size: int) -> Finder:
    """The finder that fits `size` bytes of text (-1: not known, taken as large)."""
    if 0 <= size < LARGE or not (exact or folded):
        return PlainFinder(exact, folded)
    try:
        return HyperscanFinder(exact, folded)
    except Exception:  # noqa: BLE001  hyperscan raises its own bare classes; without it the result is the same, only slower
        return PlainFinder(exact, folded)
