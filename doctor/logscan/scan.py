"""Scans texts for a table of patterns and keeps, for each, where it matched: bounded in memory whatever the size of the log."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from doctor.logscan.finder import Finder, make_finder
from doctor.logscan.literals import ignores_case, required
from doctor.logscan.prefix import message
from doctor.logscan.wrapped import Logical, joined

KEPT = 400
"""Matches kept of one pattern; beyond them only the last one is, and their number is a lower bound."""

TAIL = 4
"""Lines of a chunk that are still tried for a pattern that has matched more often than is kept: its last ones."""

LINE_CAP = 16 * 1024
"""Characters of a line that patterns see: around the literal, where the line is longer."""


@dataclass(frozen=True)
class Chunk:
    """Cleaned UTF-8 lines of one source, each ended by a newline; `first` is the number of the first line, `whole` if it is all there
    is: a text of that size was pasted, so wrapped lines are looked for."""

    source: str
    data: bytes
    first: int = 1
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """One line that matched. `ordinal` counts lines over all sources in the order of scanning, so that positions compare."""

    source: str
    line: int
    ordinal: int
    text: str
    groups: Mapping[str, str]


@dataclass
class Hits:
    """All that is kept of one pattern's matches."""

    kept: list[Match] = field(default_factory=list)
    count: int = 0
    last: Match | None = None

    def add(self, match: Match) -> None:
        self.count += 1
        self.last = match
        if len(self.kept) < KEPT:
            self.kept.append(match)


_NOTHING = Hits()


class Scan:
    """The result: matches by pattern."""

    def __init__(self) -> None:
        self.hits: dict[str, Hits] = {}
        self.lines = 0
        self.sources: list[str] = []

    def of(self, pattern: str) -> Hits:
        """What the pattern matched; empty if nothing."""
        return self.hits.get(pattern, _NOTHING)


class Scanner:
    """A table of patterns, ready to scan. Patterns are compiled when their literal is first seen."""

    def __init__(self, literals: Mapping[str, frozenset[str]]) -> None:
        """`literals`: pattern -> its required literals (`literals.required`)."""
        self._patterns = list(literals)
        exact: dict[bytes, list[int]] = {}
        folded: dict[bytes, list[int]] = {}
        for index, pattern in enumerate(self._patterns):
            table = folded if ignores_case(pattern) else exact
            for literal in literals[pattern]:
                table.setdefault(literal.encode(), []).append(index)
        self._exact, self._folded = list(exact), list(folded)
        self._users = [*exact.values(), *folded.values()]
        self._compiled: dict[int, re.Pattern[str]] = {}

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Scanner:
        """A scanner for these patterns. Raises ValueError for one that is not allowed."""
        return cls({pattern: required(pattern) for pattern in dict.fromkeys(patterns)})

    def scan(self, chunks: Iterable[Chunk], size: int = -1) -> Scan:
        """Scans all chunks; `size` is their size in bytes where it is known."""
        result = Scan()
        finder: Finder | None = None
        base = 0
        for chunk in chunks:
            if finder is None:
                finder = make_finder(self._exact, self._folded, len(chunk.data) if chunk.whole else size)
            if not result.sources or result.sources[-1] != chunk.source:
                result.sources.append(chunk.source)
                base = result.lines - (chunk.first - 1)
            self._scan_chunk(chunk, finder, base, result)
            if chunk.whole:
                self._scan_joined(chunk, finder, base, result)
            result.lines += chunk.data.count(b"\n")
        for hits in result.hits.values():
            hits.kept.sort(key=lambda match: match.ordinal)
            if len(hits.kept) == hits.count:
                hits.last = hits.kept[-1]
        return result

    def _scan_chunk(self, chunk: Chunk, finder: Finder, base: int, result: Scan) -> None:
        for line, index, text in self._candidates(chunk.data, self._worth_trying(finder.find(chunk.data), result)):
            self._try(index, text, chunk.source, chunk.first + line, base, result)

    def _scan_joined(self, chunk: Chunk, finder: Finder, base: int, result: Scan) -> None:
        readings = joined(chunk.data.decode("utf-8", "replace").split("\n"))
        for logical in readings:
            self._scan_logical(chunk, logical, finder, base, result)
        if readings:
            _gather(result, chunk, readings[-1], base)

    def _scan_logical(self, chunk: Chunk, logical: Logical, finder: Finder, base: int, result: Scan) -> None:
        """Scans joined lines for what the lines as they stand did not show."""
        data = "\n".join(text.replace("\n", " ") for _, text in logical).encode() + b"\n"
        seen = {pattern: {match.line for match in hits.kept} for pattern, hits in result.hits.items()}
        for line, index, text in self._candidates(data, finder.find(data)):
            first = logical[line][0] if line < len(logical) else 0
            following = logical[line + 1][0] if line + 1 < len(logical) else first + 1
            if not any(chunk.first + number in seen.get(self._patterns[index], ()) for number in range(first, following)):
                self._try(index, text, chunk.source, chunk.first + first, base, result)

    def _worth_trying(self, found: Iterable[tuple[int, int]], result: Scan) -> list[tuple[int, int]]:
        """Without the literals whose patterns have all matched enough: a healthy server prints their lines with every request."""
        full = {literal for literal, users in enumerate(self._users) if all(result.of(self._patterns[index]).count >= KEPT for index in users)}
        if not full:
            return list(found)
        tails: dict[int, deque[tuple[int, int]]] = {literal: deque(maxlen=TAIL) for literal in full}
        kept: list[tuple[int, int]] = []
        for place in found:
            (tails[place[1]] if place[1] in full else kept).append(place)
        return kept + [place for tail in tails.values() for place in tail]

    def _candidates(self, data: bytes, found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
        """(line from 0, pattern, line's message) for each line and pattern one of whose literals is there."""
        line, counted = 0, 0
        tried: set[int] = set()
        start = end = -1
        text = ""
        for at, literal in sorted(found):
            if at > end:
                start = data.rfind(b"\n", 0, at) + 1
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                line += data.count(b"\n", counted, start)
                counted = start
                tried.clear()
                text = _shown(data, start, end, at)
            elif end - start > LINE_CAP:
                text = _shown(data, start, end, at)
            for index in self._users[literal]:
                if index not in tried or end - start > LINE_CAP:
                    tried.add(index)
                    yield line, index, text

    def _try(self, index: int, text: str, source: str, line: int, base: int, result: Scan) -> None:
        # ASCII: a word ends where Chinese begins, so that \b works in text that is written without spaces.
        compiled = self._compiled.get(index)
        if compiled is None:
            compiled = self._compiled[index] = re.compile(self._patterns[index], re.ASCII)
        found = compiled.search(text)
        if found is not None:
            groups = {name: value for name, value in found.groupdict().items() if value is not None}
            result.hits.setdefault(self._patterns[index], Hits()).add(Match(source, line, base + line, text, groups))


def _gather(result: Scan, chunk: Chunk, logical: Logical, base: int) -> None:
    """Puts what matched in the parts of one broken line at one place, so that what must stand beside it is beside it."""
    starts = [base + chunk.first + first for first, _ in logical]
    for hits in result.hits.values():
        hits.kept = [
            replace(match, ordinal=starts[bisect_right(starts, match.ordinal) - 1]) if match.source == chunk.source else match for match in hits.kept
        ]


def _shown(data: bytes, start: int, end: int, at: int) -> str:
    """The message of a line; of a longer one, what stands around the literal."""
    if end - start > LINE_CAP:
        start, end = max(start, at - LINE_CAP // 2), min(end, at + LINE_CAP // 2)
    return message(data[start:end].decode("utf-8", "replace"))

