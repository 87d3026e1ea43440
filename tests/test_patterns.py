"""Every pattern of every rule against hostile lines: a line made to hurt must not stop the scanner."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

import pytest

from doctor.logscan.scan import LINE_CAP
from doctor.rulebook import load

HANGS = 60
"""Seconds after which a search counts as one that never ends; a good one takes milliseconds, so this measures nothing."""

LENGTH = LINE_CAP // 4


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(_signal: int, _frame: object) -> None:
        raise TimeoutError("this pattern does not end on a hostile line")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANGS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def hostile(pattern: str, literals: frozenset[str]) -> Iterator[str]:
    """Lines that nearly match, again and again: one kind of character, and the pattern's own literals without their end."""
    yield from (char * LENGTH for char in "a0 ._!|=-")
    yield from ("a 0." * (LENGTH // 4), "a_b-c " * (LENGTH // 6), "/x.y" * (LENGTH // 4))
    for literal in sorted(literals)[:2]:
        yield literal * (LENGTH // len(literal))
        yield (literal + " a") * (LENGTH // (len(literal) + 2))
        yield literal + "a" * LENGTH


PATTERNS = sorted(load().literals.items())


@pytest.mark.parametrize("part", range(0, len(PATTERNS), 100))
def test_a_hostile_line_ends(part: int, alarm: None) -> None:
    for pattern, literals in PATTERNS[part : part + 100]:
        compiled = re.compile(pattern)
        for line in hostile(pattern, literals):
            compiled.search(line)
