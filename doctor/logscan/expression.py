"""Turns a pattern into a coarser expression for hyperscan, for patterns whose literals stand in every healthy log.

Contract: where the pattern matches a message, `expression` matches the line's bytes. Gaps, classes beyond ASCII and long repeats become `.*`;
assertions go, since they take no room. So it needs neither UTF-8 nor look-around, and compiles fast.
"""

from __future__ import annotations

from typing import Any

from doctor.logscan.literals import codes, everywhere, parse
from doctor.logscan.needle import Needle

_GAP = ".*"
_LONGEST_REPEAT = 4
"""Repeats that are kept as they are; a longer one costs hyperscan more than it excludes."""


def expression(pattern: str) -> str:
    """The expression, in ASCII; "" where nothing of the pattern is left."""
    parts = _sequence(parse(pattern))
    while parts and parts[0] == _GAP:
        parts.pop(0)
    while parts and parts[-1] == _GAP:
        parts.pop()
    return "".join(parts)


def escaped(text: bytes) -> str:
    """Literal bytes as an expression."""
    return "".join(f"\\x{byte:02x}" for byte in text)


def _sequence(sequence: Any) -> list[str]:
    parts: list[str] = []
    for code, argument in sequence:
        parts += [part for part in _part(code, argument) if part]
    return [part for index, part in enumerate(parts) if part != _GAP or parts[index - 1 : index] != [_GAP]]


def _part(code: Any, argument: Any) -> list[str]:
    if code is codes.LITERAL:
        return [escaped(chr(argument).encode("utf-8", "replace"))]
    if code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return []
    if code is codes.SUBPATTERN:
        return _sequence(argument[-1])
    if code is codes.IN:
        return [_class(argument) or _GAP]
    if code is codes.BRANCH:
        return _branch(["".join(_sequence(branch)) for branch in argument[1]])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        return _repeat(*argument)
    return [_GAP]


def _branch(branches: list[str]) -> list[str]:
    if _GAP in branches:
        return [_GAP]
    kept = "|".join(dict.fromkeys(branch for branch in branches if branch))
    return [f"(?:{kept})" + ("" if all(branches) else "?")] if kept else []


def _repeat(least: int, most: int, inner: Any) -> list[str]:
    parts = _sequence(inner)
    text = "".join(parts)
    if not text:
        return []
    if _GAP in text:
        return [_GAP, *parts, _GAP] if least else [_GAP]
    if most <= 1:
        return [f"(?:{text})" + ("" if least else "?")]
    if most <= _LONGEST_REPEAT and len(parts) == 1:
        return [f"(?:{text}){{{least},{most}}}"]
    return [text, _GAP] if least else [_GAP]


def _class(items: Any) -> str:
    """A set of ASCII characters; "" for any other."""
    found = ""
    for code, argument in items:
        if code is codes.LITERAL and argument < 0x80:
            found += f"\\x{argument:02x}"
        elif code is codes.RANGE and argument[1] < 0x80:
            found += f"\\x{argument[0]:02x}-\\x{argument[1]:02x}"
        elif code is codes.CATEGORY and argument is codes.CATEGORY_DIGIT:
            found += "0-9"
        else:
            return ""
    return f"[{found}]"


def coarse(needle: Needle) -> str:
    """What hyperscan looks for: any of the literals, as the fastest; the coarser expression where these stand everywhere."""
    literals = "|".join(escaped(literal) for literal in needle.literals)
    if any(everywhere(literal.decode("utf-8", "replace")) for literal in needle.literals):
        return expression(needle.pattern) or literals
    return literals
