"""The list of causes: state, what was found, rule and fix in columns that fit the width; cells are `Text`, never markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from doctor.locale import Speak
from doctor.report.style import wrap
from doctor.text import cell_width, truncate
from doctor.tui.rows import Row, safety, told

ELLIPSIS = "..."
"""Of ASCII: terminals for Chinese show the one-character ellipsis two cells wide."""

_STYLES = {"FAIL": "bold red", "WARN": "bold yellow", "NOTE": "bold cyan", "ERROR": "bold red", "BROKEN": "bold magenta", "SKIP": "dim", "PASS": "dim"}


class Findings(DataTable[Text]):
    """The rows in one language; keeps the cursor on the same row when they change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("g", "scroll_top", show=False),
        Binding("G", "scroll_bottom", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(cursor_type="row", cell_padding=1)
        self._shown: list[Row] = []
        self._speak: Speak | None = None
        self._language = "en"
        self._widths: tuple[int, ...] = ()

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self._shown[self.cursor_row] if 0 <= self.cursor_row < len(self._shown) else None

    def show(self, rows: Sequence[Row], speak: Speak, language: str) -> None:
        """Shows these rows in place of the others; rows that only come behind the shown ones are added."""
        same = language == self._language and self._widths == self._fitting(rows, speak) and bool(self._widths)
        old, self._shown, self._speak, self._language = self._shown, list(rows), speak, language
        if same and old and [_face(row) for row in rows[: len(old)]] == [_face(row) for row in old]:
            for row in rows[len(old) :]:
                self._add(row)
            return
        self._fill(old[self.cursor_row].key if 0 <= self.cursor_row < len(old) else "")

    def on_resize(self) -> None:
        if self._speak is not None and self._widths != self._fitting(self._shown, self._speak):
            self._fill(self.current.key if self.current else "")

    def _fill(self, key: str) -> None:
        assert self._speak is not None
        index = next((number for number, row in enumerate(self._shown) if row.key == key), 0)
        self._widths = self._fitting(self._shown, self._speak)
        self.clear(columns=True)
        for name, width in zip(("state", "what", "rule", "fix"), self._widths, strict=True):
            self.add_column(Text(truncate(self._speak(f"column_{name}"), width, "")), width=width)
        for row in self._shown:
            self._add(row)
        self.move_cursor(row=index)

    def _fitting(self, rows: Sequence[Row], speak: Speak) -> tuple[int, ...]:
        """Cells of the columns: what was found takes what the others leave, and they leave it at least half."""
        room = max(40, self.size.width - 1 - 2 * 4)  # one for the scroll bar, two for the blanks of each column
        state = max((cell_width(_word(row.state, speak)) for row in rows), default=5)
        fix = max((cell_width(safety(row, speak)) for row in rows), default=4)
        state, fix = max(state, 5), max(fix, 4)
        rule = max((cell_width(row.rule) for row in rows), default=8)
        rule = max(8, min(rule, (room - state - fix) * 2 // 5 if room < 60 else room // 3, 32))
        return state, room - state - fix - rule, rule, fix

    def _add(self, row: Row) -> None:
        assert self._speak is not None
        state, what, rule, fix = self._widths
        fold = f"+{row.symptoms} " if row.symptoms else ""
        text = ("  " if row.depth else "") + (f"[{self._speak('new')}] " if row.new else "") + fold + told(row, self._speak, self._language)
        quiet = row.state in ("SKIP", "PASS")
        lines = _two_lines(text, what) if not quiet else [truncate(text, what, ELLIPSIS)]
        self.add_row(
            Text(truncate(_word(row.state, self._speak), state, ""), _STYLES[row.state]),
            Text("\n".join(lines), "dim" if quiet else ""),
            Text(truncate(row.rule, rule, ELLIPSIS), "dim"),
            Text(truncate(safety(row, self._speak), fix, "")),
            height=len(lines),
        )


def _word(state: str, speak: Speak) -> str:
    """The state in one word: in Chinese the English one stands before it elsewhere."""
    return speak(state).rpartition(" ")[2]


def _two_lines(text: str, cells: int) -> list[str]:
    """The text, and what does not fit on the first line on a second."""
    lines = list(wrap(text.strip(), cells))
    return lines if len(lines) <= 2 else [lines[0], truncate(text.strip()[len(lines[0]) :].strip(), cells, ELLIPSIS)]


def _face(row: Row) -> tuple[object, ...]:
    """What of a row is painted; the findings behind it may be large."""
    return row.key, row.state, row.text, row.depth, row.symptoms, row.new


__all__ = ["Findings"]
