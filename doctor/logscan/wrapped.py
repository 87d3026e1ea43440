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


def joined(lines: list[str]) -> list[tuple[int, str]] | None:
    """(index of the first line, joined text) for every logical line, or None where the text does not look wrapped."""
    width = max((len(line.rstrip()) for line in lines), default=0)
    if not NARROWEST <= width <= WIDEST:
        return None
    full = [index for index in range(len(lines) - 1) if _breaks(lines[index], lines[index + 1], width)]
    if not full:
        return None
    hard = all(len(lines[index].rstrip("\n")) == width for index in full)
    breaks = set(full)
    result: list[tuple[int, str]] = []
    for index, line in enumerate(lines):
        if index - 1 in breaks and result:
            first, text = result[-1]
            result[-1] = (first, text + line if hard else f"{text.rstrip()} {line.strip()}")
        else:
            result.append((index, line))
    return result


def _breaks(line: str, following: str, width: int) -> bool:
    """Whether `following` goes on with what `line` began: its first word would not have fitted."""
    if not following.strip() or _STARTS.match(following):
        return False
    first = following.split(None, 1)[0]
    return len(line.rstrip()) + 1 + len(first) > width and len(line.rstrip()) >= width - 40
