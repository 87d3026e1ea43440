"""Paints only the lines that are on the screen, with their numbers; the marked line has a `>`.

Contract: nothing is laid out but what is seen, wrapped or not: a log of a gigabyte opens at once. When long lines wrap, one of them may be
taller than the screen; `_part` is the first part of the top line that is seen.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from doctor.text import cell_width
from doctor.tui.lines import Lines, TextLines

_SEVERE = re.compile(r"\b(?:ERROR|FATAL|CRITICAL|Traceback|\w{1,60}(?:Error|Exception))\b")
_WARNING = re.compile(r"\bWARN(?:ING)?\b")

Part = tuple[int, int, str]
"""Line, number of the part of it (0 is its start), text."""


class LinesView(ScrollView, can_focus=True):
    """A scrollable view of `Lines`; `marked` is a line, from 0."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--severe", "lines--warning", "lines--number", "lines--found"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", show=False),
        Binding("up,k", "step(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("left", "aside(-1)", show=False),
        Binding("right", "aside(1)", show=False),
    ]

    class Marked(Message):
        """Another line is marked."""

    def __init__(self) -> None:
        super().__init__(id="lines")
        self._lines: Lines = TextLines("")
        self.marked = 0
        self.wrapped = False
        self.sought = ""
        self._part = 0
        self._widest = 0
        """Cells of the widest line that was painted, with its number."""

    def show(self, lines: Lines, marked: int) -> None:
        self._lines, self._widest = lines, 0
        self._measure()
        self.mark(marked)

    def grow(self) -> None:
        """More lines are there."""
        self._measure()
        self.refresh()

    def mark(self, number: int) -> None:
        """Marks a line and brings it into view."""
        self.marked = max(0, min(number, self._lines.count - 1))
        if self.wrapped:
            if not self._in_view(self.marked):
                self._part = 0
                self.scroll_to(y=max(0, self.marked - self._room.height // 3), animate=False, immediate=True, force=True)
                if not self._in_view(self.marked):  # the lines above it are tall
                    self.scroll_to(y=self.marked, animate=False, immediate=True, force=True)
        elif self._room.height:
            inside = self.scroll_offset.y <= self.marked < self.scroll_offset.y + self._room.height
            self.scroll_to_region(Region(self.scroll_offset.x, self.marked, 1, 1), animate=False, center=not inside, force=True, x_axis=False)
        self.refresh()
        self.post_message(self.Marked())

    def wrap(self, *, on: bool) -> None:
        """Breaks long lines at the edge, or lets them run out of the screen."""
        self.wrapped, self._part = on, 0
        self._measure()
        self.scroll_to(x=0, animate=False, immediate=True, force=True)
        self.mark(self.marked)

    def _measure(self) -> None:
        """Wrapped, the last line may stand at the top, since it may be taller than the screen."""
        width = self._room.width if self.wrapped else max(self._room.width, self._widest)
        self.virtual_size = Size(width, self._lines.count + (max(0, self._room.height - 1) if self.wrapped else 0))

    def on_resize(self) -> None:
        self._measure()
        self.call_after_refresh(lambda: self.mark(self.marked))  # a file may have been opened before there was a size

    # Painting

    @property
    def _room(self) -> Region:
        """What scroll bars leave."""
        return self.scrollable_content_region

    @property
    def _gutter(self) -> int:
        return len(str(self._lines.count)) + 4

    def _from(self, line: int, part: int) -> Iterator[Part]:
        """The parts of lines from one on."""
        room = max(8, self._room.width - self._gutter)
        for number in range(line, self._lines.count):
            for index, text in enumerate(pieces(self._lines.line(number), room)):
                if number > line or index >= part:
                    yield number, index, text

    def _seen(self) -> list[Part]:
        return list(islice(self._from(self.scroll_offset.y, self._part), max(1, self._room.height)))

    def _in_view(self, line: int) -> bool:
        return any(number == line for number, _, _ in self._seen())

    def render_line(self, y: int) -> Strip:
        if self.wrapped:
            part = next(islice(self._from(self.scroll_offset.y, self._part), y, None), None)
            if part is None:
                return Strip.blank(self._room.width, self.rich_style)
            return self._strip(part[0], part[2], 0, continued=part[1] > 0)
        number = self.scroll_offset.y + y
        if number >= self._lines.count:
            return Strip.blank(self._room.width, self.rich_style)
        text = self._lines.line(number)
        self._widen(cell_width(text) + self._gutter)
        return self._strip(number, text, self.scroll_offset.x)

    def _strip(self, number: int, text: str, left: int, *, continued: bool = False) -> Strip:
        width, here, base = self._room.width, number == self.marked, self.rich_style
        head = "" if continued else str(number + 1)
        gutter = Segment(f"{'>' if here and not continued else ' '} {head:>{self._gutter - 4}}  ", self.get_component_rich_style("lines--number") + Style(bold=here))
        strip = Strip(list(self._segments(text, self._colour(number, text) + Style(bold=here))), cell_width(text))
        line = Strip([gutter, *strip.crop(left, left + width)])
        return line.crop_extend(0, width, base)

    def _colour(self, number: int, text: str) -> Style:
        start = (self._lines.line(number) if self.wrapped else text)[:2000]
        if _SEVERE.search(start):
            return self.get_component_rich_style("lines--severe")
        return self.get_component_rich_style("lines--warning") if _WARNING.search(start) else self.rich_style

    def _segments(self, text: str, style: Style) -> Iterator[Segment]:
        """The text, with what is sought set apart."""
        if not self.sought:
            yield Segment(text, style)
            return
        at, found = 0, self.get_component_rich_style("lines--found")
        for match in islice(re.finditer(re.escape(self.sought), text, re.IGNORECASE), 200):
            yield Segment(text[at : match.start()], style)
            yield Segment(match[0], found)
            at = match.end()
        yield Segment(text[at:], style)

    def _widen(self, cells: int) -> None:
        if cells > self.virtual_size.width:
            self.call_later(self._grow, cells)

    def _grow(self, cells: int) -> None:
        if not self.wrapped and cells > self.virtual_size.width:
            self._widest = cells
            self.virtual_size = Size(cells, self._lines.count)

    # Moving

    def action_step(self, lines: int) -> None:
        """To the next line; within a line that is taller than the screen, on through it."""
        if self.wrapped and self._scrolled_within(lines):
            return
        self.mark(self.marked + lines)

    def action_page(self, pages: int) -> None:
        if self.wrapped and self._scrolled_within(pages * max(1, self._room.height - 1)):
            return
        seen = len({number for number, _, _ in self._seen()}) if self.wrapped else self._room.height
        self.mark(self.marked + pages * max(1, seen - 1))

    def action_aside(self, steps: int) -> None:
        if not self.wrapped:
            self.scroll_to(x=max(0, self.scroll_offset.x + steps * 16), animate=False)

    def _scrolled_within(self, parts: int) -> bool:
        """Goes on inside the marked line where it is taller than the screen, as far as it reaches."""
        height, total = self._room.height, len(pieces(self._lines.line(self.marked), max(8, self._room.width - self._gutter)))
        at_top = self.scroll_offset.y == self.marked
        part = self._part if at_top else 0
        if total <= height or not self._in_view(self.marked):
            return False
        if (parts > 0 and at_top and part + height >= total) or (parts < 0 and part == 0):
            return False
        self._part = max(0, min(part + parts, total - height)) if at_top else 0
        if not at_top:
            self.scroll_to(y=self.marked, animate=False, immediate=True, force=True)
        self.refresh()
        return True

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -3)

    def _wheel(self, event: events.Event, parts: int) -> None:
        if self.wrapped and self._scrolled_within(parts):
            event.stop()
            event.prevent_default()


@functools.lru_cache(maxsize=256)
def pieces(text: str, room: int) -> tuple[str, ...]:
    """The text in parts of at most so many cells; one part for an empty line."""
    if text.isascii():
        return tuple(text[at : at + room] for at in range(0, len(text), room)) or ("",)
    found, start, used = [], 0, 0
    for at, char in enumerate(text):
        wide = cell_width(char)
        if used + wide > room:
            found.append(text[start:at])
            start, used = at, 0
        used += wide
    return (*found, text[start:])


__all__ = ["LinesView", "pieces"]
