"""One line to type into, opened by `/` and closed by `esc`. The editor behind it is loaded when it is opened first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.containers import Container

if TYPE_CHECKING:
    from textual.widgets import Input


class FilterBox(Container):
    """Takes no room until it is opened. Its `Input.Changed` and `Input.Submitted` bubble to the screen."""

    def __init__(self) -> None:
        super().__init__(id="filterbox")
        self._input: Input | None = None
        self.hint = ""

    @property
    def value(self) -> str:
        return self._input.value if self._input is not None else ""

    @property
    def is_open(self) -> bool:
        return self.has_class("open")

    async def open(self, text: str | None = None) -> None:
        """Opens and takes the focus, before the next key comes; with a text, that is what stands in it."""
        from doctor.tui.widgets.cleaninput import CleanInput

        self.add_class("open")
        if self._input is None:
            self._input = CleanInput(text or "", id="filter", placeholder=self.hint, select_on_focus=False)
            self._input.cursor_blink = False  # it would send bytes for ever
            await self.mount(self._input)
        elif text is not None:
            self._input.value = text
        self.screen.set_focus(self._input)

    def take(self, event: events.Key) -> None:
        """A key that was typed before the editor had the focus, as when `/word` comes in one piece over a slow line."""
        if self._input is not None and self.screen.focused is self._input and event.character and event.is_printable:
            self._input.insert_text_at_cursor(event.character)
            event.prevent_default()  # else it would be taken for a command

    def tell(self, hint: str) -> None:
        """What stands there while it is empty."""
        self.hint = hint
        if self._input is not None:
            self._input.placeholder = hint

    def close(self, *, emptied: bool = False) -> None:
        """Closes unless a text is to stay in sight."""
        if emptied and self._input is not None:
            self._input.value = ""
        self.set_class(bool(self.value.strip()), "open")

    def hide(self) -> None:
        """Closes and keeps the text for the next time."""
        self.remove_class("open")


__all__ = ["FilterBox"]
