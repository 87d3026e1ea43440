"""Paints only the lines that are on the screen, with their numbers; the marked line has a `>`."""

from __future__ import annotations

import re

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from doctor.text import cell_width
from doctor.tui.lines import Lines, TextLines

_SEVERE = re.compile(r"\b(?:ERROR|FATAL|CRITICAL|Traceback|\w{1,60}(?:Error|Exception))\b")
_WARNING = re.compile(r"\bWARN(?:ING)?\b")


class LinesView(ScrollView, can_focus=True):
    """A scrollable view of `Lines`; `marked` is a line, from 0."""

    def __init__(self) -> None:
        super().__init__(id="lines")
        self._lines: Lines = TextLines("")
        self.marked = 0

    def show(self, lines: Lines, marked: int) -> None:
        self._lines = lines
        self.virtual_size = Size(self.size.width, lines.count)
        self.mark(marked)

    def mark(self, number: int) -> None:
        """Marks a line and brings it into view."""
        self.marked = max(0, min(number, self._lines.count - 1))
        self.scroll_to_region(Region(0, self.marked, 1, 1), animate=False, center=True, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y
        width = self.size.width
        if number >= self._lines.count:
            return Strip.blank(width, self.rich_style)
        wide = len(str(self._lines.count))
        text = self._lines.line(number)
        base = self.rich_style
        here = number == self.marked
        gutter = f"{'>' if here else ' '} {number + 1:>{wide}}  "
        colour = Style(color="red") if _SEVERE.search(text[:2000]) else Style(color="yellow") if _WARNING.search(text[:2000]) else Style()
        strip = Strip([Segment(text, base + colour + Style(bold=here))], cell_width(text)).crop(self.scroll_offset.x, self.scroll_offset.x + width)
        self._widen(cell_width(text) + len(gutter))
        line = Strip([Segment(gutter, base + Style(bold=here, dim=not here)), *strip])
        return line.crop_extend(0, width, base)

    def _widen(self, cells: int) -> None:
        if cells > self.virtual_size.width:
            self.call_later(self._grow, cells)

    def _grow(self, cells: int) -> None:
        if cells > self.virtual_size.width:
            self.virtual_size = Size(cells, self._lines.count)


__all__ = ["LinesView"]
