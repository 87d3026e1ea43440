"""Keeps the start of each log for its facts, where versions stand: bounded for all logs together, whatever their order.

Contract: of few logs each keeps its first megabyte; of many each keeps as much less as fits, the same of all. Chunks pass through as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from doctor.logscan.scan import Chunk

LIMITS = (1024 * 1024, 64 * 1024, 4 * 1024)
"""Bytes of each log: a pasted report is smaller than the first, a line with a version stands before the last."""

MOST = 8 * 1024 * 1024
"""Bytes of all logs: reading facts takes longer than scanning, and a folder of thousands should take no more than some large logs."""


class Heads:
    """The starts of the logs that have passed so far."""

    def __init__(self) -> None:
        self._heads: list[list[Chunk]] = []
        self._limits = list(LIMITS)
        self._total = 0

    def passing(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks, looked at in passing."""
        source, kept = None, 0
        for chunk in chunks:
            if chunk.source != source:
                source, kept = chunk.source, 0
                self._heads.append([])
            if kept < self._limits[0] and self._total < MOST:
                kept += len(chunk.data)
                self._add(chunk)
            yield chunk

    def _add(self, chunk: Chunk) -> None:
        before = self._heads[-1]
        self._heads[-1] = _cut([*before, chunk], self._limits[0])
        self._total += _size(self._heads[-1]) - _size(before)
        while self._total > MOST and len(self._limits) > 1:
            self._limits.pop(0)
            self._heads = [_cut(head, self._limits[0]) for head in self._heads]
            self._total = sum(map(_size, self._heads))

    def chunks(self) -> Iterator[Chunk]:
        """What was kept, in order."""
        for head in self._heads:
            yield from head


def _size(head: list[Chunk]) -> int:
    return sum(len(chunk.data) for chunk in head)


def _cut(head: list[Chunk], limit: int) -> list[Chunk]:
    """Whole lines of it, `limit` bytes or less; the first line whatever its length is."""
    kept: list[Chunk] = []
    for chunk in head:
        if len(chunk.data) <= limit:
            kept.append(chunk)
            limit -= len(chunk.data)
            continue
        end = chunk.data.rfind(b"\n", 0, max(limit, 0)) + 1
        if end or not kept:
            kept.append(replace(chunk, data=chunk.data[: end or limit], whole=False))
        break
    return kept
