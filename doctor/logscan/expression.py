"""Turns a pattern into a coarser expression for hyperscan, for patterns whose literals stand in every healthy log.

Contract: where the pattern matches a message, one of `expressions` matches the line's bytes. Gaps, classes beyond ASCII and long repeats become
`.*`; assertions go, since they take no room. So it needs neither UTF-8 nor look-around, and compiles fast.
"""

from __future__ import annotations

from typing import Any

from doctor.logscan.literals import NO_ROOM, best, codes, everywhere, parse, rare
from doctor.logscan.needle import Needle
from doctor.logscan.window import window

_GAP = ".*"
_ANY = ".{1,4}"
"""One character, in bytes."""
_RARE_ENOUGH = 6
"""Three bytes, four of a number."""

_LONGEST_REPEAT = 4
"""Repeats that are kept as they are; a longer one costs hyperscan more than it excludes."""


def expressions(needle: Needle) -> list[str]:
    """What hyperscan looks for: any of the literals, as the fastest; where these stand in every healthy line, what is rarer in each alternative."""
    if not any(everywhere(literal.decode("utf-8", "replace")) for literal in needle.literals):
        return [escaped(literal) for literal in needle.literals]
    found = [text for branch in _alternatives(parse(needle.pattern)) for text in _rare(branch)]
    return found if all(found) else [escaped(literal) for literal in needle.literals]


def _alternatives(sequence: Any) -> list[Any]:
    """The branches of a pattern that is nothing but alternatives, else itself."""
    parts = [(code, argument) for code, argument in sequence if code not in NO_ROOM]
    if len(parts) == 1 and parts[0][0] is codes.SUBPATTERN:
        return _alternatives(parts[0][1][-1])
    if len(parts) == 1 and parts[0][0] is codes.BRANCH:
        return [inner for branch in parts[0][1][1] for inner in _alternatives(branch)]
    return [sequence]


def _rare(sequence: Any) -> list[str]:
    literals = best(sequence, rare) or set()
    if literals and min(map(rare, literals)) >= _RARE_ENOUGH:
        return [escaped(literal.encode("utf-8", "replace")) for literal in sorted(literals)]
    if texts := window(sequence):
        return [escaped(text.encode("utf-8", "replace")) for text in texts]
    return [expression(sequence)]


def expression(sequence: Any) -> str:
    """The sequence as an expression, in ASCII; "" where nothing is left of it."""
    parts = _sequence(sequence)
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
    if code in NO_ROOM:
        return []
    if code is codes.ANY:
        return [_ANY]
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
    if text == _ANY:
        return [_GAP]
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
