"""A page of text that scrolls: the page of a rule, of an error code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from doctor.report.style import Style
from doctor.text import clean
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.widgets.keybar import KeyBar

WIDEST = 110

Lines = Callable[[str, Style], Iterable[str]]
"""(language, style) -> the lines of the page."""


class PageScreen(DoctorScreen):
    """Shows the lines that a function gives for a language and a width."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("escape,left", "back", "key_back", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("j", "scroll_down", "key_down"),
        Key("k", "scroll_up", "key_up"),
        Key("g", "scroll_home", "key_top"),
        Key("G", "scroll_end", "key_bottom"),
    )
    BINDINGS = bindings(KEYS)

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Static(id="text")
        yield KeyBar(self.KEYS)

    def retell(self) -> None:
        super().retell()
        self.query_one("#text", Static).update(Content(self.plain_text()))

    def on_resize(self) -> None:
        self.retell()

    def plain_text(self) -> str:
        width = min(WIDEST, max(40, self.size.width - 6))
        return "".join(clean(line) + "\n" for line in self._lines(self.language, Style(width)))

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text())

    def action_scroll_down(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_down(animate=False)

    def action_scroll_up(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_up(animate=False)

    def action_scroll_home(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_home(animate=False)

    def action_scroll_end(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_end(animate=False)


__all__ = ["Lines", "PageScreen"]
