"""Facts that stand anywhere in a file, however long: read while it is scanned, where `report.py` looks at the start of a file only.

Contract: text without their signs costs one search a chunk; nothing but totals is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from doctor.facts.memcheck import SIGNS as MEMCHECK_SIGNS
from doctor.facts.memcheck import MemcheckReader
from doctor.facts.profile import SIGNS as PROFILE_SIGNS
from doctor.facts.profile import ProfileReader

SIGNS = (*PROFILE_SIGNS, *MEMCHECK_SIGNS)
"""A chunk without any of them tells nothing new."""


class Reader(Protocol):
    """Takes lines in order, tells facts at the end."""

    def wants(self, source: str) -> bool: ...

    def feed(self, source: str, number: int, line: str) -> None: ...

    def facts(self) -> Iterator[object]: ...


class Streams:
    """All readers, fed with the chunks of every file in order."""

    signs = SIGNS

    def __init__(self) -> None:
        self._readers: tuple[tuple[Reader, tuple[str, ...]], ...] = ((ProfileReader(), PROFILE_SIGNS), (MemcheckReader(), MEMCHECK_SIGNS))

    def feed(self, source: str, first: int, data: bytes, found: Collection[str] = SIGNS) -> None:
        """The next whole lines of a source; `first` is the number of the first of them, `found` the signs that they may hold."""
        wanted = [reader for reader, signs in self._readers if reader.wants(source) or any(sign in found and sign.encode() in data for sign in signs)]
        if not wanted:
            return
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n")[:-1], first):
            for reader in wanted:
                reader.feed(source, number, line)

    def facts(self) -> Iterator[object]:
        for reader, _ in self._readers:
            yield from reader.facts()
