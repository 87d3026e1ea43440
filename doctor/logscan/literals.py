"""Which literal texts a pattern needs: the fast path looks for these before it tries the pattern.

`required(pattern)` gives a set of which every match contains at least one. It also refuses what could take more than linear time.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

_INSIDE = ("re._parser", "re._constants") if sys.version_info >= (3, 11) else ("sre_parse", "sre_constants")
# The standard library's own parser of regular expressions: not public, but there in every version and unchanged in what is used here.
_parser, _codes = map(importlib.import_module, _INSIDE)

SHORTEST = 4
"""Bytes of UTF-8; a shorter literal stands in too many lines to be a fast path. A Chinese word of two characters has six and is rare enough."""

_MOST = 64
"""Literals of one pattern at the most: an alternation of more is two patterns."""


def required(pattern: str) -> frozenset[str]:
    """The literals; lower case where the pattern ignores case. Raises ValueError with the reason if the pattern is not allowed."""
    try:
        parsed = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"not a regular expression: {problem}") from None
    _refuse_slow(parsed, nested=False)
    found = _best(parsed)
    if found is None or any(len(literal.encode()) < SHORTEST for literal in found):
        raise ValueError(f"needs a literal of {SHORTEST} or more letters (two in Chinese) in every alternative: {pattern!r}")
    if len(found) > _MOST:
        raise ValueError(f"has {len(found)} alternatives; split it: {pattern!r}")
    folded = bool(parsed.state.flags & re.IGNORECASE)
    return frozenset(literal.lower() for literal in found) if folded else frozenset(found)


def _refuse_slow(sequence: Any, *, nested: bool) -> None:
    for code, argument in sequence:
        if code in (_codes.GROUPREF, _codes.GROUPREF_EXISTS):
            raise ValueError("back-references are not allowed: they take more than linear time")
        if code in (_codes.MAX_REPEAT, _codes.MIN_REPEAT):
            _, most, inner = argument
            unbounded = most is _codes.MAXREPEAT or most > 1000
            if unbounded and nested:
                raise ValueError("nested quantifiers are not allowed: they take more than linear time")
            _refuse_slow(inner, nested=nested or unbounded)
        elif code is _codes.SUBPATTERN:
            _refuse_slow(argument[-1], nested=nested)
        elif code is _codes.BRANCH:
            for branch in argument[1]:
                _refuse_slow(branch, nested=nested)
        elif code in (_codes.ASSERT, _codes.ASSERT_NOT):
            _refuse_slow(argument[1], nested=nested)


def _best(sequence: Any) -> set[str] | None:
    """The best literal set of a sequence: the one whose shortest literal is longest."""
    candidates: list[set[str]] = []
    run: list[str] = []

    def close() -> None:
        if run:
            candidates.append({"".join(run)})
            run.clear()

    for code, argument in sequence:
        if code is _codes.LITERAL:
            run.append(chr(argument))
            continue
        if code is _codes.AT:
            continue
        close()
        inner = None
        if code is _codes.SUBPATTERN:
            inner = _best(argument[-1])
        elif code is _codes.BRANCH:
            inner = _branches(argument[1])
        elif code in (_codes.MAX_REPEAT, _codes.MIN_REPEAT) and argument[0] >= 1:
            inner = _best(argument[2])
        if inner:
            candidates.append(inner)
    close()
    return max(candidates, key=lambda literals: (min(map(len, literals)), -len(literals)), default=None)


def _branches(branches: Any) -> set[str] | None:
    found: set[str] = set()
    for branch in branches:
        inner = _best(branch)
        if inner is None:
            return None
        found |= inner
    return found
