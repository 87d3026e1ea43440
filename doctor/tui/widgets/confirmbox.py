"""One question at the bottom of a screen that is answered by typing a word: what changes a machine is never one key away."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from doctor.text import clean_line
from doctor.tui.widgets.cleaninput import CleanInput

YES = ("y", "yes", "是")


class ConfirmBox(Container):
    """Closed until it is asked."""

    class Answered(Message):
        """What was typed; `purpose` is what it was asked for."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose, self.text = purpose, text

    def __init__(self) -> None:
        super().__init__(id="confirmbox")
        self._purpose = ""

    @property
    def is_open(self) -> bool:
        return self.has_class("open")

    def compose(self) -> ComposeResult:
        yield Static(id="question")
        yield CleanInput(id="answer", select_on_focus=False, disabled=True)

    def ask(self, purpose: str, question: str, answer: str = "") -> None:
        """Opens with the question and takes the focus; `answer` stands there already."""
        self._purpose = purpose
        self.query_one("#question", Static).update(Content(clean_line(question)))
        box = self.query_one(Input)
        box.disabled = False
        box.cursor_blink = False  # it would send bytes for ever
        box.value = answer
        box.cursor_position = len(answer)
        self.add_class("open")
        self.screen.set_focus(box)

    def close(self) -> None:
        self.remove_class("open")
        self.query_one(Input).disabled = True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self.post_message(self.Answered(self._purpose, clean_line(event.value).strip()))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()


__all__ = ["ConfirmBox", "YES"]
