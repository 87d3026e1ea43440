"""Sends a terminal only what changed: a model of its screen, and the least that turns it into what is painted next. Knows no Textual.

Contract: what goes in is what Textual paints (moves, colours, text); anything else goes through as it is. Where the model cannot be sure
of a line (marks of doubtful width), the line is painted as it came. `forget` makes it sure of nothing, after a resize or another program.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from doctor.text import cell_width

Cell = tuple[str, str]
"""A character and its normalised colours; the second cell of a wide character holds "" as its character."""

BLANK: Cell = (" ", "")

JOIN = 6
"""Equal cells up to which a gap is painted again: as long as the move that would jump over it."""

ERASED = 8
"""Blanks from which on erasing them is shorter than painting them."""

_TOKEN = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;]*)m|(\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.))|([^\x1b\n]+)|\n")
_SURE = re.compile("[\x20-\x7e\u3000-\u303e\u4e00-\u9fff\uff01-\uff60]*")
"""Characters of which every terminal knows the width."""


class Painted:
    """What a terminal of so many columns and lines shows, as far as it is known."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell]] = {}
        self._columns = 0
        self._lost = True
        self._at: tuple[int, int] | None = None
        self._style: str | None = None

    def forget(self) -> None:
        """Nothing is known any more: the next paint clears the screen."""
        self._lost = True

    def reduce(self, data: str, columns: int) -> str:
        """The shortest that has the effect of `data` on a screen of this width."""
        out: list[str] = []
        if columns != self._columns:
            self._columns, self._lost = columns, True
        wanted: dict[int, dict[int, Cell]] = {}
        line, column, style, painted = 0, 0, "", False
        end: tuple[int, int] | None = None
        for match in _TOKEN.finditer(data):
            row, col, colours, other, text = match.groups()
            if row is not None:
                line, column, end = int(row) - 1, int(col) - 1, (int(row) - 1, int(col) - 1)
            elif colours is not None:
                style = normal(f"{style};{colours}" if style and colours not in ("", "0") else colours)
            elif other is not None:
                out.append(other)
            elif text is not None:
                painted, end = True, None
                column = _put(wanted.setdefault(line, {}), column, text, style)
        if painted:
            out.append(self._paint(wanted))
        if end is not None and end != self._at:
            out.append(f"\x1b[{end[0] + 1};{end[1] + 1}H")
            self._at = end
        return "".join(out)

    def _paint(self, wanted: dict[int, dict[int, Cell]]) -> str:
        out: list[str] = []
        if self._lost:
            out.append("\x1b[m\x1b[2J")
            self._rows, self._lost, self._style, self._at = {}, False, "", None
        for line, cells in wanted.items():
            row = self._rows.setdefault(line, [BLANK] * self._columns)
            out += self._line(line, row, cells)
        if self._style:
            out.append("\x1b[m")
        self._style = ""
        return "".join(out)

    def _line(self, line: int, row: list[Cell], cells: dict[int, Cell]) -> Iterator[str]:
        changed = sorted(at for at, cell in cells.items() if at < len(row) and row[at] != cell)
        if not changed:
            return
        doubtful = not all(_SURE.fullmatch(char) for char, _ in row)
        for at in changed:
            row[at] = cells[at]
        if doubtful or not all(_SURE.fullmatch(char) for char, _ in row):
            yield from self._run(line, row, 0, len(row))  # a mark of doubtful width may have moved what is behind it
            return
        start = changed[0]
        last = start
        for at in [*changed[1:], len(row) + JOIN + 1]:
            if at - last > JOIN:
                yield from self._run(line, row, start, last + 1)
                start = at
            last = at

    def _run(self, line: int, row: list[Cell], start: int, stop: int) -> Iterator[str]:
        """Paints the cells from `start` up to `stop`; the blank rest of a line in one go."""
        while start and row[start][0] == "":
            start -= 1
        to_the_end = all(cell == BLANK for cell in row[stop:])
        blank = max((at + 1 for at in range(start, stop) if row[at] != BLANK), default=start)
        if not to_the_end and stop - blank < ERASED:
            blank = stop
        if self._at != (line, start):
            yield f"\x1b[{line + 1};{start + 1}H"
        for at in range(start, blank):
            char, style = row[at]
            if style != self._style:
                yield f"\x1b[{style}m" if not self._style else f"\x1b[0;{style}m" if style else "\x1b[m"
                self._style = style
            yield char
        if stop - blank > 0:
            if self._style:
                yield "\x1b[m"
                self._style = ""
            yield "\x1b[K" if to_the_end else f"\x1b[{stop - blank}X"
        # Behind the last column terminals differ in where the cursor is.
        self._at = (line, blank) if blank < len(row) else None


def _put(cells: dict[int, Cell], column: int, text: str, style: str) -> int:
    """Puts the text into the cells from a column on; gives the column behind it."""
    if text.isascii():
        cells.update((at, (char, style)) for at, char in enumerate(text, column))
        return column + len(text)
    for char in text:
        width = cell_width(char)
        if not width and column and column - 1 in cells:
            cells[column - 1] = (cells[column - 1][0] + char, style)
            continue
        cells[column] = (char, style)
        if width == 2:
            cells[column + 1] = ("", style)
        column += width
    return column


@functools.lru_cache(maxsize=1024)
def normal(codes: str) -> str:
    """SGR codes without those that change nothing: after a reset, and the default colours."""
    kept: list[str] = []
    parts = iter(codes.split(";"))
    for part in parts:
        if part in ("", "0"):
            kept.clear()
        elif part in ("38", "48"):
            kind = next(parts, "")
            count = {"5": 1, "2": 3}.get(kind, 0)
            kept.append(";".join([part, kind, *(next(parts, "") for _ in range(count))]))
        elif part not in ("39", "49"):
            kept.append(part)
    return ";".join(dict.fromkeys(kept))


__all__ = ["Painted", "normal"]
