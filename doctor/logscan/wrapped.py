"""Joins lines that a terminal or a mail program broke at its width, so that a message is whole again.

Only a guess: the scanner looks at the joined lines in addition to the lines as they stand.
"""

from __future__ import annotations

from collections.abc import Iterable

from doctor.logscan.prefix import message
from doctor.regex import regex

NARROWEST, WIDEST = 60, 132
"""Widths, in characters, at which people paste terminals: 72 and 78 (mail), 80, 100, 120, 132."""

SHORTEST_BROKEN = 20
"""A line is broken this short only before a very long word, such as a path."""

_STARTS = regex(r"\s*(?:Traceback \(most|File \"|\||\+[-=]|[-*#] |```|[A-Za-z_.]{1,80}(?:Error|Exception|Warning):)")
"""What begins a line of its own, beside everything that has a log prefix."""

_QUOTE = regex(r"^\s{0,3}(?:>\s?){1,20}")

Logical = list[tuple[int, str]]
"""(index of its first line, joined text) for every logical line."""


def joined(lines: list[str]) -> list[Logical]:
    """The ways to read the text with its broken lines joined; none where it does not look wrapped.

    A terminal breaks at its width, within words too; an editor or a mail program between words, before its width. Both are tried.
    """
    if has_wide(lines):
        return []
    # Who quotes a wrapped text marks every line of it, and the marks end no message.
    lines = [_QUOTE.sub("", line) if line.lstrip()[:1] == ">" else line for line in lines]
    # A single word that is too long stands on a line of its own and says nothing of the width.
    width = max((len(line.rstrip()) for line in lines if " " in line.strip()), default=0)
    if not NARROWEST <= width <= WIDEST:
        return []
    breaks = {index for index in range(len(lines) - 1) if _breaks(lines[index], lines[index + 1], width)}
    full = {index for index in breaks if len(lines[index]) == width}
    return [_join(lines, where, glue) for where, glue in ((full, ""), (breaks, " ")) if where]


def has_wide(lines: Iterable[str]) -> bool:
    """Whether no terminal of the usual widths broke one of these lines, which shows that the text was not wrapped at all."""
    return any(len(line) > WIDEST and len(line.rstrip()) > WIDEST and " " in line.strip() and line.lstrip()[:1] != ">" for line in lines)


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
    begun, first = len(line.rstrip()), following.split(None, 1)[:1]
    if not first or begun < SHORTEST_BROKEN or begun + 1 + len(first[0]) <= width:
        return False
    if line.split(None, 1)[:1] == first:
        return False  # two records of one kind
    return not _STARTS.match(following) and message(following) == following.strip()
