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

MOST_THREADS = 8

Looked = tuple[int, bytes, Sequence[int]]
"""(offset, whole lines from there, indexes of the patterns that may match one of them)."""


def look(finder: Finder, data: bytes) -> list[Looked]:
    """Those pieces of the data in which something may match, with what."""
    found: list[Looked] = []
    for start, end in _pieces(data):
        piece = data[start:end]
        if indexes := finder.find(piece):
            found.append((start, piece, sorted(indexes)))
    return found


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    start, size = 0, len(data)
    while size - start > PIECE:
        end = data.rfind(b"\n", start, start + PIECE) + 1 or data.find(b"\n", start) + 1 or size
        yield start, end
        start = end
    if start < size:
        yield start, size


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
