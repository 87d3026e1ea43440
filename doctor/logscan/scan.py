"""Scans texts for a table of patterns and keeps, for each, where it matched: bounded in memory whatever the size of the log.

Contract: what is found hangs on neither the finder, nor the number of threads, nor how a source was cut into chunks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from doctor.logscan.ahead import Looked, look, looked
from doctor.logscan.finder import Finder
from doctor.logscan.literals import required
from doctor.logscan.needle import Needle
from doctor.logscan.prefix import message
from doctor.logscan.wrapped import Logical, has_wide, joined

KEPT = 400
"""Matches kept of one pattern, the first ones: then it is not looked for any more, since a healthy server prints some with every request."""

APART = 1_000_000
"""Lines by which two sources lie apart: what stands at the end of one is not near the start of the next, whatever their order."""

WORTH_DROPPING = 512 * 1024 * 1024
"""Bytes of all logs from which patterns that have all their matches are taken from the finder: it costs it half a second once."""

LINE_CAP = 16 * 1024
"""Bytes of a line that patterns see at once: around the literals, where the line is longer."""

_START = 16 * 1024
_REMEMBERED = 256


@dataclass(frozen=True)
class Chunk:
    """Cleaned UTF-8 lines of one source, each ended by a newline; `first` is the number of the first line, `whole` if it is all there
    is: a text of that size was pasted, so wrapped lines are looked for."""

    source: str
    data: bytes
    first: int = 1
    whole: bool = False

    @cached_property
    def lines(self) -> int:
        """How many there are."""
        return self.data.count(b"\n")


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

    @property
    def count(self) -> int:
        """How many lines matched; KEPT stands for that many and more."""
        return len(self.kept)

    @property
    def full(self) -> bool:
        return len(self.kept) >= KEPT


_NOTHING = Hits()


class Scan:
    """The result: matches by pattern."""

    def __init__(self) -> None:
        self.hits: dict[str, Hits] = {}
        self.lines = 0
        self.live = bytearray()
        """For each pattern of the table whether it is still looked for: not all that will be kept is kept yet."""
        self.sources: list[str] = []

    def of(self, pattern: str) -> Hits:
        """What the pattern matched; empty if nothing."""
        return self.hits.get(pattern, _NOTHING)


class Scanner:
    """A table of patterns, ready to scan. Patterns are compiled when a line that may match is first seen."""

    def __init__(self, literals: Mapping[str, Iterable[str]], signs: Sequence[str] = ()) -> None:
        """`literals`: pattern -> its required literals (`literals.required`). `signs` are texts of which only the chunks are told that hold them."""
        self._needles = [Needle.of(pattern, found) for pattern, found in literals.items()]
        self._patterns = len(self._needles)
        self._signs = signs
        self._needles += [Needle(re.escape(sign), (sign.encode(),), folded=False) for sign in signs]
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._failed: dict[str, set[int]] = {}

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Scanner:
        """A scanner for these patterns. Raises ValueError for one that is not allowed."""
        return cls({pattern: required(pattern) for pattern in dict.fromkeys(patterns)})

    def scan(self, chunks: Iterable[Chunk], size: int = -1, told: Callable[[Chunk, frozenset[str]], None] | None = None) -> Scan:
        """Scans all chunks; `size` is their size in bytes where it is known. `told` gets every chunk in turn, with the signs that it may hold."""
        result = Scan()
        result.live = bytearray(b"\1" * self._patterns + b"\0" * len(self._signs))
        base, dropped, seen = 0, 0, 0
        for chunk, pieces, finder in looked(chunks, self._needles, size):
            if told is not None:
                told(chunk, frozenset(self._signs[index - self._patterns] for _, _, found in pieces for index in found if index >= self._patterns))
            if not result.sources or result.sources[-1] != chunk.source:
                result.sources.append(chunk.source)
                base = result.lines - (chunk.first - 1) + APART * (len(result.sources) - 1)
            for line, index, text, groups in self._matches(chunk.data, pieces, result):
                self._keep(index, Match(chunk.source, chunk.first + line, base + chunk.first + line, text, groups), result)
            if chunk.whole:
                self._scan_joined(chunk, finder, base, result)
            result.lines += chunk.lines
            seen += len(chunk.data)
            if max(size, 2 * seen) >= WORTH_DROPPING and (full := result.live.count(0) - len(self._signs)) > dropped:
                dropped = full
                finder.drop([index for index in range(self._patterns) if not result.live[index]])
        return result

    def _keep(self, index: int, match: Match, result: Scan) -> None:
        hits = result.hits.setdefault(self._needles[index].pattern, Hits())
        hits.kept.append(match)
        result.live[index] = not hits.full

    def _matches(self, data: bytes, pieces: Iterable[Looked], result: Scan) -> Iterator[tuple[int, int, str, dict[str, str]]]:
        """(line from 0, pattern, message, groups) for each line that a pattern matches which is not full yet."""
        number, counted = 0, 0
        for offset, piece, found in pieces:
            wanted = [index for index in found if result.live[index]]
            if not wanted:
                continue
            lines = _Lines(piece)
            number, counted = number + data.count(b"\n", counted, offset), offset
            for index in wanted:
                needle, line, at = self._needles[index], number, 0
                for start in lines.holding(needle):
                    matched = self._match(index, lines.texts(start, needle))
                    if matched is not None:
                        line, at = line + piece.count(b"\n", at, start), start
                        yield line, index, *matched
                        if not result.live[index]:
                            break

    def _match(self, index: int, texts: Iterable[str]) -> tuple[str, dict[str, str]] | None:
        # ASCII: a word ends where Chinese begins, so that \b works in text that is written without spaces.
        compiled = self._compiled.get(index)
        if compiled is None:
            compiled = self._compiled[index] = re.compile(self._needles[index].pattern, re.ASCII)
        for text in texts:
            failed = self._failed.get(text)
            if failed is not None and index in failed:
                continue
            if (found := compiled.search(text)) is not None:
                return text, {name: value for name, value in found.groupdict().items() if value is not None}
            self._fail(text, index)
        return None

    def _fail(self, text: str, index: int) -> None:
        """Errors come over and over: what a message does not match is remembered of the last ones."""
        if len(self._failed) > _REMEMBERED:
            self._failed.clear()
        self._failed.setdefault(text, set()).add(index)

    def _scan_joined(self, chunk: Chunk, finder: Finder, base: int, result: Scan) -> None:
        # Whole lines at the start are enough to see that a large text was not wrapped.
        if has_wide(chunk.data[:_START].decode("utf-8", "replace").split("\n")[:-1]):
            return
        readings = joined(chunk.data.decode("utf-8", "replace").split("\n"))
        if not readings:
            return
        for logical in readings:
            self._scan_logical(chunk, logical, finder, base, result)
        for hits in result.hits.values():
            hits.kept.sort(key=lambda match: match.ordinal)
        _gather(result, chunk, readings[-1], base)

    def _scan_logical(self, chunk: Chunk, logical: Logical, finder: Finder, base: int, result: Scan) -> None:
        """Scans joined lines for what the lines as they stand did not show."""
        data = "\n".join(text.replace("\n", " ") for _, text in logical).encode() + b"\n"
        start = base + chunk.first
        seen = {pattern: {match.ordinal - start for match in hits.kept} for pattern, hits in result.hits.items()}
        for line, index, text, groups in self._matches(data, look(finder, data), result):
            first = logical[line][0] if line < len(logical) else 0
            following = logical[line + 1][0] if line + 1 < len(logical) else first + 1
            if not any(number in seen.get(self._needles[index].pattern, ()) for number in range(first, following)):
                self._keep(index, Match(chunk.source, chunk.first + first, start + first, text, groups), result)


class _Lines:
    """The lines of one piece, decoded and without their prefixes where a pattern asks for them, once each."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._single = data.find(b"\n") >= len(data) - 1
        self._lower: bytes | None = None
        self._messages: dict[int, str] = {}

    def holding(self, needle: Needle) -> Sequence[int]:
        """Where the lines begin that hold one of the literals."""
        if self._single:
            return (0,)
        if not needle.folded:
            return needle.lines(self._data)
        if self._lower is None:
            self._lower = self._data.lower()
        return needle.lines(self._lower)

    def texts(self, start: int, needle: Needle) -> Iterable[str]:
        """The line's message; of a line that is too long, its parts around the literals."""
        text = self._messages.get(start)
        if text is not None:
            return (text,)
        end = self._data.find(b"\n", start)
        end = len(self._data) if end < 0 else end
        if end - start > LINE_CAP:
            return _parts(self._data[start:end], needle)
        text = self._messages[start] = message(self._data[start:end].decode("utf-8", "replace"))
        return (text,)


def _parts(line: bytes, needle: Needle) -> Iterator[str]:
    """Overlapping parts of a long line, those that hold a literal well inside; where it is in them hangs on the line alone."""
    step = LINE_CAP // 2
    for part in sorted({max(0, (place - step // 2) // step) for place in needle.places(line.lower() if needle.folded else line)}):
        yield message(line[part * step : part * step + LINE_CAP].decode("utf-8", "replace"))


def _gather(result: Scan, chunk: Chunk, logical: Logical, base: int) -> None:
    """Puts what matched in the parts of one broken line at one place, so that what must stand beside it is beside it."""
    starts = [base + chunk.first + first for first, _ in logical]
    for hits in result.hits.values():
        hits.kept = [
            replace(match, ordinal=starts[bisect_right(starts, match.ordinal) - 1]) if match.source == chunk.source else match for match in hits.kept
        ]
