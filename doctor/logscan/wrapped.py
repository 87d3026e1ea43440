"""Joins lines that a terminal or a mail program broke at its width, so that a message is whole again.

Only a guess: the scanner looks at the joined lines in addition to the lines as they stand.
"""

from __future__ import annotations

import re

NARROWEST, WIDEST = 60, 132
"""Widths, in characters, at which people paste terminals: 72 and 78 (mail), 80, 100, 120, 132."""

_STARTS = re.compile(
    r"\s*(?:\(|\[|\d{4}-|\d\d[:-]\d\d|INFO\b|WARNING\b|ERROR\b|DEBUG\b|Traceback|File \"|\||\+[-=]|[-*#>] |```|[A-Za-z_.]+(?:Error|Exception|Warning):)"
)


Logical = list[tuple[int, str]]
"""(index of its first line, joined text) for every logical line."""


def joined(lines: list[str]) -> list[Logical]:
    """The ways to read the text with its broken lines joined; none where it does not look wrapped.

    Where every broken line is exactly as wide as the widest, the break may stand within a word (a terminal) or between two (an editor).
    """
    width = max((len(line.rstrip()) for line in lines), default=0)
    if not NARROWEST <= width <= WIDEST:
        return []
    breaks = {index for index in range(len(lines) - 1) if _breaks(lines[index], lines[index + 1], width)}
    if not breaks:
        return []
    within_words = all(len(lines[index]) == width for index in breaks)
    return [_join(lines, breaks, glue) for glue in (("", " ") if within_words else (" ",))]


def _join(lines: list[str], breaks: set[int], glue: str) -> Logical:
    result: Logical = []
    for index, line in enumerate(lines):
        if index - 1 in breaks:
            first, text = result[-1]
            result[-1] = (first, f"{text.rstrip()} {line.strip()}" if glue else text + line)
        else:
            result.append((index, line))
    return result


def _breaks(line: str, following: str, width: int) -> bool:
    """Whether `following` goes on with what `line` began: its first word would not have fitted."""
    if not following.strip() or _STARTS.match(following):
        return False
    first = following.split(None, 1)[0]
    return len(line.rstrip()) + 1 + len(first) > width and len(line.rstrip()) >= width - 40
