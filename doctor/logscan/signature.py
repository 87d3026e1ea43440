"""Evaluates signatures on a scan: which lines are evidence, given what must and must not stand around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from doctor.finding import Evidence
from doctor.logscan.scan import Match, Scan
from doctor.rule import Near, Signature

SHOWN = 400
"""Characters of a line that a finding quotes."""


class Matches:
    """The lines that matched a rule's named patterns: what its Python logic gets."""

    def __init__(self, scan: Scan, patterns: Mapping[str, tuple[str, ...]]) -> None:
        self._scan = scan
        self._patterns = patterns

    @property
    def looked(self) -> bool:
        """Whether there was any log at all."""
        return self._scan.lines > 0

    def __getitem__(self, name: str) -> tuple[Match, ...]:
        """Every kept match of that name's patterns, in order. KeyError for a name that the cause file does not define."""
        return ordered(self._scan, self._patterns[name])

    def any(self) -> bool:
        """Whether any line matched any of the patterns."""
        return any(self._scan.of(pattern).count for group in self._patterns.values() for pattern in group)

    def count(self, name: str) -> int:
        """How many lines matched, beyond those kept too."""
        return sum(self._scan.of(pattern).count for pattern in self._patterns[name])


def ordered(scan: Scan, patterns: Iterable[str]) -> tuple[Match, ...]:
    """The matches of any of the patterns, each line once, in the order of the text."""
    found = {match.ordinal: match for pattern in patterns for match in scan.of(pattern).kept}
    return tuple(found[ordinal] for ordinal in sorted(found))


def evidence_of(matches: tuple[Match, ...], count: int | None = None) -> Evidence:
    """One piece of evidence for lines of one kind: the first of them, with the span."""
    first, last = matches[0], matches[-1]
    return Evidence(first.source, first.text[:SHOWN], first.line, first.line, last.line, count or len(matches))


def hits(signature: Signature, scan: Scan) -> tuple[Match, ...]:
    """The lines that are evidence for the signature; () if it does not hold."""
    found = ordered(scan, signature.patterns)
    if not found:
        return ()
    ordinals = {near: sorted(match.ordinal for match in ordered(scan, near.patterns)) for near in (*signature.near, *signature.unless)}
    kept = tuple(_around(found, signature, ordinals))
    if signature.after:
        marks = ordered(scan, signature.after)
        kept = tuple(match for match in kept if marks and match.ordinal > marks[0].ordinal)
    if signature.before:
        marks = ordered(scan, signature.before)
        kept = tuple(match for match in kept if marks and match.ordinal < marks[-1].ordinal)
    total = sum(scan.of(pattern).count for pattern in signature.patterns)
    return kept if kept and (len(kept) >= signature.count or (len(kept) == len(found) and total >= signature.count)) else ()


def _around(found: tuple[Match, ...], signature: Signature, ordinals: Mapping[Near, list[int]]) -> Iterator[Match]:
    for match in found:
        if all(_stands(match.ordinal, near.lines, ordinals[near]) for near in signature.near) and not any(
            _stands(match.ordinal, near.lines, ordinals[near]) for near in signature.unless
        ):
            yield match


def _stands(at: int, lines: int, ordinals: list[int]) -> bool:
    """Whether one of the sorted ordinals is within `lines` of `at` (anywhere for 0)."""
    if lines == 0 or not ordinals:
        return bool(ordinals)
    index = bisect_left(ordinals, at - lines)
    return index < len(ordinals) and ordinals[index] <= at + lines
