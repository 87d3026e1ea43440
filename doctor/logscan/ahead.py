"""Looks at chunks with a finder, in pieces that fit a processor's cache; of large logs ahead of the scan, in threads.

Contract: chunks come in their order with what was found in each; hyperscan runs without the interpreter's lock, so that cores add up.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from doctor.logscan.finder import LARGE, Finder, HyperscanFinder, make_finder
from doctor.logscan.needle import Needle

if TYPE_CHECKING:
    from doctor.logscan.scan import Chunk

PIECE = 32 * 1024
"""Bytes: a pattern that may match in one costs a search in the whole of it."""

MANY = 6
SMALL_PIECES = (1024, 1)
"""Bytes of the pieces that are looked at where one told so many patterns, each size within the one before; the last are single lines. Around an
error some lines hold much and most nothing."""

MOST_THREADS = 8

Looked = tuple[int, bytes, Sequence[int]]
"""(offset, whole lines from there, indexes of the patterns that may match one of them)."""


def look(finder: Finder, data: bytes) -> list[Looked]:
    """Those pieces of the data in which something may match, with what; small ones, and single lines, where it is much."""
    return list(_look(finder, data, 0, len(data), (PIECE, *SMALL_PIECES)))


def _look(finder: Finder, data: bytes, start: int, limit: int, sizes: Sequence[int]) -> Iterator[Looked]:
    for begin, end in _pieces(data, start, limit, sizes[0]):
        piece = data[begin:end]
        indexes = finder.find(piece)
        if len(indexes) >= MANY and len(sizes) > 1 and len(finder.everyday.union(indexes)) >= len(finder.everyday) + MANY:
            yield from _look(finder, data, begin, end, sizes[1:])
        elif indexes:
            yield begin, piece, sorted(indexes)


def _pieces(data: bytes, start: int, limit: int, size: int) -> Iterator[tuple[int, int]]:
    """Starts and ends of pieces of about that size, at line ends."""
    while limit - start > size:
        end = data.rfind(b"\n", start, start + size) + 1 or data.find(b"\n", start, limit) + 1 or limit
        yield start, end
        start = end
    if start < limit:
        yield start, limit


def looked(chunks: Iterable[Chunk], needles: Sequence[Needle], size: int) -> Iterator[tuple[Chunk, list[Looked], Finder]]:
    """Every chunk with what was found in it, and the finder. `size` of all of them, or -1: then small until the contrary is seen."""
    rest = iter(chunks)
    finder = make_finder(needles, size)
    seen = 0
    for chunk in rest:
        seen += len(chunk.data)
        if seen > LARGE and size < 0:
            finder = make_finder(needles, seen)
        yield chunk, look(finder, chunk.data), finder
        if seen > LARGE:
            break
    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    if threads > 1 and isinstance(finder, HyperscanFinder):
        yield from _in_threads(rest, finder, threads)
    else:
        yield from ((chunk, look(finder, chunk.data), finder) for chunk in rest)


def _in_threads(chunks: Iterable[Chunk], finder: Finder, threads: int) -> Iterator[tuple[Chunk, list[Looked], Finder]]:
    from concurrent.futures import Future, ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    waiting: deque[tuple[Chunk, Future[list[Looked]]]] = deque()
    try:
        for chunk in chunks:
            waiting.append((chunk, pool.submit(look, finder, chunk.data)))
            if len(waiting) > 2 * threads:
                first, future = waiting.popleft()
                yield first, future.result(), finder
        for first, future in waiting:
            yield first, future.result(), finder
    finally:
        pool.shutdown(cancel_futures=True)
