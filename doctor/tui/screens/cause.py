"""One cause, whole: what was found, why, every piece of evidence, the steps; and the way to its rule and to its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from doctor.report.model import Report
from doctor.tui.detail import Detail, commands
from doctor.tui.job import Job
from doctor.tui.keys import Key, bindings
from doctor.tui.rows import Row
from doctor.tui.screens.leading import RowScreen
from doctor.tui.widgets.keybar import KeyBar


class CauseScreen(RowScreen):
    """Shows one row of the list; `n` and `N` go on to the others."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("escape,left", "back", "key_back", line=True),
        Key("n", "next", "key_next", line=True),
        Key("N", "previous", "key_previous"),
        Key("F", "fix", "key_fix", line=True, changes=True),
        Key("e", "explain", "key_explain", line=True),
        Key("v", "evidence", "key_evidence", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("c", "copy_commands", "key_copy_commands", line=True),
        Key("j", "scroll_down", "key_down"),
        Key("k", "scroll_up", "key_up"),
    )
    BINDINGS = bindings(KEYS)

    def __init__(self, job: Job, report: Report | None, rows: Sequence[Row], index: int) -> None:
        super().__init__()
        self.job, self.report, self._rows, self._index = job, report, rows, index

    @property
    def row(self) -> Row:
        return self._rows[self._index]

    @property
    def current(self) -> Row:
        return self.row

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Static(id="text")
        yield KeyBar(self.offered)

    def retell(self) -> None:
        super().retell()
        self.query_one("#text", Static).update(self._content())

    def on_resize(self) -> None:
        self.retell()

    def _content(self) -> Content:
        return Detail(self.report, self.language, self.size.width - 6).whole(self.row)

    def plain_text(self) -> str:
        return self._content().plain + "\n"

    def action_next(self) -> None:
        self._go(1)

    def action_previous(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        self._index = (self._index + step) % len(self._rows)
        self.query_one("#page", VerticalScroll).scroll_home(animate=False)
        self.retell()

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text())

    def action_copy_commands(self) -> None:
        self.doctor.copy(commands(self.row.finding) if self.row.finding else "")

    def action_scroll_down(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_down(animate=False)

    def action_scroll_up(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_up(animate=False)


__all__ = ["CauseScreen"]
