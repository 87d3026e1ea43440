"""The NPUs: health, power, temperature, load and memory of every chip, and the processes on them; what is odd is marked.

Contract: looks follow each other, never two at a time, at a slow pace that a slow npu-smi makes slower; none is taken while another screen
is on top, or while it is held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from doctor.report.style import short
from doctor.text import truncate
from doctor.tui.background import behind
from doctor.tui.cards import History, Look, Table
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.watch import Watch
from doctor.tui.widgets.keybar import KeyBar

PACE = 5.0
"""Seconds between the end of one look and the start of the next."""

SHARE = 4
"""The pause is at least so many times as long as the look took: npu-smi holds a lock of the driver while it asks."""

Looking = Callable[[Watch], Look]


class NpusScreen(DoctorScreen):
    """Shows what `looking` gives, again and again where it can change."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("escape,left", "back", "key_back", line=True),
        Key("r", "again", "key_look", line=True),
        Key("space", "hold", "key_hold", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("j", "scroll_down", "key_down"),
        Key("k", "scroll_up", "key_up"),
    )
    BINDINGS = bindings(KEYS)

    class Looked(Message):
        """One look is over."""

        def __init__(self, look: Look) -> None:
            super().__init__()
            self.look = look

    def __init__(self, label: str, looking: Looking) -> None:
        super().__init__()
        self._label, self._looking = label, looking
        self._look: Look | None = None
        self._history = History()
        self._watch: Watch | None = None
        self._next: Timer | None = None
        self._held = False

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        with VerticalScroll(id="page", classes="tight"):
            yield Static(id="text")
        yield KeyBar(self.KEYS)

    def on_mount(self) -> None:
        super().on_mount()
        self._begin()

    def on_unmount(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    def on_screen_resume(self) -> None:
        if self._look is not None and self._next is None and not self._held:
            self._begin()

    # Looking

    def _begin(self) -> None:
        """Starts a look unless one is under way."""
        if self._next is not None:
            self._next.stop()
            self._next = None
        if self._watch is None:
            watch = self._watch = Watch()
            behind(self, lambda: self.Looked(self._looking(watch)), "npus")
            self._head()

    def on_npus_screen_looked(self, event: Looked) -> None:
        self._watch, self._look = None, event.look
        self._history.add(event.look.uses)
        self.retell()
        if self.is_current and not self._held and not event.look.recorded:
            self._next = self.set_timer(max(PACE, SHARE * event.look.seconds), self._begin)

    # What is seen

    def retell(self) -> None:
        super().retell()
        self._head()
        self.query_one("#text", Static).update(self._content() if self._look is not None else Content(self.speak("npus_asking")))

    def on_resize(self) -> None:
        self.retell()

    def _content(self) -> Content:
        assert self._look is not None
        return Table(self._look, self._history, self.speak, self.doctor.glyphs, max(40, self.size.width - 3)).content()

    def _head(self) -> None:
        parts = [self.speak("npus_title"), short(self._label, 40)]
        look = self._look
        if look is not None and look.npus is not None and look.npus.driver_version:
            parts.append(f"{self.speak('driver')} {short(look.npus.driver_version, 30)}")
        if look is not None and look.at is not None and not look.recorded:
            parts.append(self.speak("npus_looked", time=look.at.astimezone().strftime("%H:%M:%S"), seconds=look.seconds))
        parts.append(self._state())
        self.query_one("#title", Static).update(Content(truncate("  ".join(part for part in parts if part), self.size.width - 2, "...")))

    def _state(self) -> str:
        if self._watch is not None:
            return self.speak("npus_asking")
        if self._look is not None and self._look.recorded:
            return self.speak("npus_recorded")
        return self.speak("npus_held") if self._held else ""

    def plain_text(self) -> str:
        return self._content().plain + "\n" if self._look is not None else ""

    # Keys

    def action_again(self) -> None:
        self._begin()

    def action_hold(self) -> None:
        self._held = not self._held
        if self._held and self._next is not None:
            self._next.stop()
            self._next = None
        elif not self._held and self._look is not None and not self._look.recorded:
            self._begin()
        self._head()

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text())

    def action_scroll_down(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_down(animate=False)

    def action_scroll_up(self) -> None:
        self.query_one("#page", VerticalScroll).scroll_up(animate=False)


__all__ = ["NpusScreen"]
