"""Screens of a list and what is told beside it, with one question at the bottom: leaving them, and scrolling what is told."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from doctor.tui.screens.base import DoctorScreen
from doctor.tui.widgets.confirmbox import ConfirmBox
from doctor.tui.widgets.keybar import KeyBar
from doctor.tui.widgets.textview import TextView


class AskingScreen(DoctorScreen):
    """Has a `ConfirmBox`, and a list with the id that `AUTO_FOCUS` names."""

    @property
    def stays(self) -> str:
        """Why it may not be left now, as a key of the words; "" where it may."""
        return ""

    @property
    def items(self) -> OptionList:
        """Its list."""
        return self.query_one(str(self.AUTO_FOCUS), OptionList)

    def refill(self, lines: Sequence[Content], start: int = 0) -> None:
        """Shows these lines in the list, repainting only those that are new; the cursor stays, and begins at `start`."""
        items = self.items
        if len(lines) == items.option_count:
            for index, line in enumerate(lines):
                if items.get_option_at_index(index).prompt != line:
                    items.replace_option_prompt_at_index(index, line)
            return
        at = start if items.highlighted is None else items.highlighted
        items.clear_options()
        items.add_options([Option(line) for line in lines])
        items.highlighted = min(at, len(lines) - 1) if lines else None

    def leave(self) -> None:
        """Once there is no question any more, and nothing to wait for."""
        super().action_back()

    def action_back(self) -> None:
        box = self.query_one(ConfirmBox)
        if box.is_open:
            box.close()
            self.items.focus()
        elif why := self.stays:
            self.say(why)
        else:
            self.leave()


class PanedScreen(AskingScreen):
    """A list with a pane beside it; on a narrow window the pane lies below."""

    AUTO_FOCUS = "#items"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="state")
        with Container(id="paned"):
            yield OptionList(id="items", markup=False)
            with VerticalScroll(id="pane", can_focus=False):
                yield Static(id="panetext")
        yield ConfirmBox()
        yield KeyBar(self.offered)

    def action_detail_down(self) -> None:
        self.query_one("#pane", VerticalScroll).scroll_page_down(animate=False)

    def action_detail_up(self) -> None:
        self.query_one("#pane", VerticalScroll).scroll_page_up(animate=False)


class SplitScreen(AskingScreen):
    """A short list, and below it a text that changes often."""

    AUTO_FOCUS = "#items"

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="state")
        with Container(classes="split"):
            yield OptionList(id="items", markup=False)
            yield TextView(id="side")
        yield ConfirmBox()
        yield KeyBar(self.offered)

    def action_detail_down(self) -> None:
        self.query_one(TextView).scroll_page_down(animate=False)

    def action_detail_up(self) -> None:
        self.query_one(TextView).scroll_page_up(animate=False)


__all__ = ["AskingScreen", "PanedScreen", "SplitScreen"]
