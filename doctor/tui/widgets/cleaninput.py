"""One line to type into; what is pasted is cleaned before the widget sees it."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from doctor.text import clean_line


class CleanInput(Input):
    """An `Input` that takes no escape sequences, controls or line ends."""

    def _on_paste(self, event: events.Paste) -> None:
        event.text = clean_line(event.text)  # the widget's own handler comes next, and takes it from here


__all__ = ["CleanInput"]
