"""The list of causes: state, what was found, rule and fix in columns that fit the width. Only what is on the screen is laid out.

Contract: a row takes one or two lines; texts are painted as they are, never as markup.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from doctor.locale import Speak
from doctor.report.style import padded, wrap
from doctor.text import cell_width, truncate
from doctor.tui.rows import Row, safety, told

ELLIPSIS = "..."
"""Of ASCII: terminals for Chinese show the one-character ellipsis two cells wide."""

STATES = ("FAIL", "WARN", "NOTE", "ERROR", "BROKEN", "SKIP", "PASS")
_QUIET = ("SKIP", "PASS")


class Findings(ScrollView, can_focus=True):
    """The rows in one language; keeps the cursor on the same row when they change."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"findings--header", "findings--cursor", "findings--faint", *(f"findings--{state.lower()}" for state in STATES)}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", show=False),
        Binding("up,k", "step(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Moved(Message):
        """The cursor stands on another row."""

    class Chosen(Message):
        """`enter`, or a click on the row under the cursor."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__()
        self.cursor_row = 0
        self._shown: list[Row] = []
        self._moved = False  # until the user moves it, the cursor stands on the first row, whatever comes in before it
        self._tops: list[int] = [0]
        self._speak: Speak | None = None
        self._language = "en"
        self._widths: tuple[int, int, int, int] = (5, 20, 8, 4)

    @property
    def rows(self) -> Sequence[Row]:
        return self._shown

    @property
    def row_count(self) -> int:
        return len(self._shown)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self._shown[self.cursor_row] if 0 <= self.cursor_row < len(self._shown) else None

    def show(self, rows: Sequence[Row], speak: Speak, language: str) -> None:
        """Shows these rows in place of the others."""
        kept = self.current.key if self.current and self._moved else ""
        self._shown, self._speak, self._language = list(rows), speak, language
        self.cursor_row = next((number for number, row in enumerate(rows) if row.key == kept), 0)
        self._lay_out()

    def on_resize(self) -> None:
        if self._speak is not None:
            self._lay_out()

    # Layout

    def _lay_out(self) -> None:
        assert self._speak is not None
        self._widths = self._fitting(self._speak)
        heights = (2 if self._two_lines(row) else 1 for row in self._shown)
        self._tops = [0, *accumulate(heights)]
        self.virtual_size = Size(self.size.width, self._tops[-1] + 1)
        self._into_view()
        self.refresh()

    def _fitting(self, speak: Speak) -> tuple[int, int, int, int]:
        """Cells of the columns: what was found takes what the others leave, and they leave it at least half."""
        rows = self._shown
        room = max(40, self.size.width - 1 - 2 * 4)  # one for the scroll bar, two for the blanks of each column
        state = max((cell_width(_word(name, speak)) for name in {row.state for row in rows}), default=5)
        fix = max((cell_width(name) for name in {safety(row, speak) for row in rows}), default=4)
        state, fix = max(state, 5), max(fix, cell_width(speak("column_fix")))
        rule = max((len(row.rule) for row in rows), default=8)
        rule = max(8, min(rule, (room - state - fix) * 2 // 5 if room < 60 else room // 3, 32))
        return state, room - state - fix - rule, rule, fix

    def _two_lines(self, row: Row) -> bool:
        """Mostly told by the length alone: measuring thousands of texts would take longer than a key may."""
        room = self._widths[1] - 2 * row.depth
        length = len(row.text[self._language]) + (8 if row.new or row.symptoms else 0)
        return row.state not in _QUIET and (length > room or (length * 2 > room and cell_width(self._text(row)) > self._widths[1]))

    def _text(self, row: Row) -> str:
        assert self._speak is not None
        fold = f"+{row.symptoms} " if row.symptoms else ""
        return ("  " if row.depth else "") + (f"[{self._speak('new')}] " if row.new else "") + fold + told(row, self._speak, self._language)

    # Painting

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._speak is None:
            return Strip.blank(width, self.rich_style)
        if y == 0:
            names = [self._speak(f"column_{name}") for name in ("state", "what", "rule", "fix")]
            style = self.get_component_rich_style("findings--header")
            return self._strip(names, (style,) * 4, style)
        line = self.scroll_offset.y + y - 1
        if not 0 <= line < self._tops[-1]:
            return Strip.blank(width, self.rich_style)
        index = bisect_right(self._tops, line) - 1
        return self._row(index, line - self._tops[index])

    def _row(self, index: int, part: int) -> Strip:
        assert self._speak is not None
        row, height = self._shown[index], self._tops[index + 1] - self._tops[index]
        lines = list(self._lines(row, height))
        faint, base = self.get_component_rich_style("findings--faint"), self.rich_style
        state = self.get_component_rich_style(f"findings--{row.state.lower()}")
        styles = (state, faint if row.state in _QUIET else base, faint, base)
        here = index == self.cursor_row
        if here:
            cursor = self.get_component_rich_style("findings--cursor")
            # Over a slow line the state alone is painted as the cursor: a tenth of the row.
            base, styles = (base, (cursor, *styles[1:])) if self.has_class("-frugal") else (cursor, (cursor,) * 4)
        if part:
            return self._strip(["", lines[part] if part < len(lines) else "", "", ""], styles, base)
        cells = [_word(row.state, self._speak), lines[0], row.rule, safety(row, self._speak)]
        return self._strip(cells, styles, base, ">" if here and self.has_focus else " ")

    def _lines(self, row: Row, height: int) -> Iterator[str]:
        """The text, and what does not fit on the first line on a second."""
        text, cells = self._text(row), self._widths[1]
        if height == 1:
            yield truncate(text, cells, ELLIPSIS)
            return
        indent = "  " * row.depth
        first = next(iter(wrap(text.strip(), cells - len(indent))))
        yield indent + first
        yield indent + truncate(text.strip()[len(first) :].strip(), cells - len(indent), ELLIPSIS)

    def _strip(self, cells: Sequence[str], styles: Sequence[Style], base: Style, mark: str = " ") -> Strip:
        """Cells of the wanted widths, each with a blank on both sides; `mark` stands in the first blank."""
        segments: list[Segment] = []
        for text, width, style in zip(cells, self._widths, styles, strict=True):
            cut = truncate(text, width, ELLIPSIS if width > 8 else "")
            segments += [Segment(" " if segments else mark, base), Segment(cut, style), Segment(padded("", width - cell_width(cut) + 1), base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    # The cursor

    def move_cursor(self, row: int) -> None:
        """Puts the cursor on a row and brings it into view."""
        row = max(0, min(row, len(self._shown) - 1))
        if row == self.cursor_row:
            return
        old, self.cursor_row, self._moved = self.cursor_row, row, True
        before = self.scroll_offset.y
        self._into_view()
        if self.scroll_offset.y == before:
            for index in (old, row):
                self._refresh_row(index)
        else:
            self.refresh()
        self.post_message(self.Moved())

    def _refresh_row(self, index: int) -> None:
        if 0 <= index < len(self._shown):
            top, bottom = self._tops[index], self._tops[index + 1]
            self.refresh(Region(0, top + 1 - self.scroll_offset.y, self.size.width, bottom - top))

    def _into_view(self) -> None:
        if not self._shown:
            return
        height = max(1, self.size.height - 1)
        top, bottom = self._tops[self.cursor_row], self._tops[self.cursor_row + 1]
        at = self.scroll_offset.y
        wanted = top if top < at else bottom - height if bottom > at + height else at
        if wanted != at:
            self.scroll_to(y=wanted, animate=False, immediate=True, force=True)

    def action_step(self, rows: int) -> None:
        self.move_cursor(self.cursor_row + rows)

    def action_page(self, pages: int) -> None:
        """To the row a window's height away."""
        target = self._tops[self.cursor_row] + pages * max(1, self.size.height - 2)
        self.move_cursor(bisect_right(self._tops, max(0, target)) - 1)

    def action_first(self) -> None:
        self.move_cursor(0)

    def action_last(self) -> None:
        self.move_cursor(len(self._shown) - 1)

    def action_choose(self) -> None:
        if self.current is not None:
            self.post_message(self.Chosen(self.cursor_row))

    def on_click(self, event: events.Click) -> None:
        line = event.y - 1 + self.scroll_offset.y
        if event.y and 0 <= line < self._tops[-1]:
            index = bisect_right(self._tops, line) - 1
            if index == self.cursor_row:
                self.action_choose()
            self.move_cursor(index)


def _word(state: str, speak: Speak) -> str:
    """The state in one word: in Chinese the English one stands before it elsewhere."""
    return speak(state).rpartition(" ")[2]


__all__ = ["Findings"]
