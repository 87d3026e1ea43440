"""The most telling short run of characters in a pattern: what a fast path looks for where the pattern's literals stand in every healthy line.

Contract: every text that the pattern matches holds one of the window's texts, in which digits and white space were written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from doctor.logscan.literals import NO_ROOM, codes, rare

_SHORTEST, _LONGEST = 3, 8
_MOST_TEXTS = 64
_MOST_CHARACTERS = 12
_COPIES = 3
"""Of a repeated part that are looked at: the first ones, and the last."""

_CATEGORIES = {codes.CATEGORY_DIGIT: "0123456789", codes.CATEGORY_SPACE: " \t"}
"""Cleaned lines hold no other white space."""

Position = Sequence[str] | None
"""The characters that may stand there; None where anything may stand, or nothing."""


def window(sequence: Any) -> list[str]:
    """The texts of the longest run that no healthy line holds, in few alternatives; [] where there is none."""
    positions = list(_positions(sequence))
    best: tuple[tuple[int, int], list[str]] = ((0, 0), [])
    for start in range(len(positions)):
        for run in _runs(positions, start):
            rank = len(run), -prod(map(len, run))
            texts = ["".join(text) for text in product(*run)] if rank > best[0] else []
            if texts and all(map(rare, texts)) and not any(map(str.isdigit, texts)):
                best = rank, texts
    return best[1]


def _runs(positions: Sequence[Position], start: int) -> Iterator[list[Sequence[str]]]:
    run: list[Sequence[str]] = []
    for position in positions[start : start + _LONGEST]:
        if not position or prod(map(len, run)) * len(position) > _MOST_TEXTS:
            return
        run.append(position)
        if len(run) >= _SHORTEST:
            yield list(run)


def _positions(sequence: Any) -> Iterator[Position]:
    for code, argument in sequence:
        if code in NO_ROOM:
            continue
        if code is codes.LITERAL:
            yield chr(argument)
        elif code is codes.IN:
            yield _characters(argument)
        elif code is codes.SUBPATTERN:
            yield from _positions(argument[-1])
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] >= 1:
            yield from _repeated(argument[0], argument[1], list(_positions(argument[2])))
        else:
            yield None


def _repeated(least: int, most: int, once: list[Position]) -> Iterator[Position]:
    yield from once * min(least, _COPIES)
    if most > least or least > _COPIES:
        yield None
        yield from once


def _characters(items: Any) -> Position:
    found: set[str] = set()
    for code, argument in items:
        if code is codes.LITERAL:
            found.add(chr(argument))
        elif code is codes.RANGE and argument[1] - argument[0] < _MOST_CHARACTERS:
            found |= set(map(chr, range(argument[0], argument[1] + 1)))
        elif code is codes.CATEGORY and argument in _CATEGORIES:
            found |= set(_CATEGORIES[argument])
        else:
            return None
    return sorted(found) if len(found) <= _MOST_CHARACTERS else None
