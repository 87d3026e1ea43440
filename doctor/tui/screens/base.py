"""What all screens have in common: their keys, the language, and the line of keys at the bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.content import Content
from textual.screen import Screen

from doctor.locale import Speak
from doctor.tui.keys import Key, offered
from doctor.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from doctor.tui.app import DoctorApp


class DoctorScreen(Screen[None]):
    """A screen that can be retold in another language and saved as text."""

    KEYS: ClassVar[tuple[Key, ...]] = ()
    AUTO_FOCUS = "*"

    @property
    def doctor(self) -> DoctorApp:
        return cast("DoctorApp", self.app)

    @property
    def offered(self) -> tuple[Key, ...]:
        """Its keys, without those that change a machine where that is not wanted."""
        return offered(self.KEYS, read_only=self.doctor.read_only, live=self.doctor.live)

    @property
    def busy(self) -> bool:
        """Whether it may not be left now, since it changes the machine."""
        return False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not any(key.action == action for key in set(self.KEYS) - set(self.offered))

    @property
    def language(self) -> str:
        return self.doctor.language

    @property
    def speak(self) -> Speak:
        return self.doctor.speak

    def on_mount(self) -> None:
        self.retell()

    def retell(self) -> None:
        """Paints every word again: after the screen was opened, and when the language changes."""
        for bar in self.query(KeyBar):
            bar.retell(self.speak)

    def plain_text(self) -> str:
        """What saving writes, and copying where a screen has nothing better."""
        return ""

    def say(self, key: str, **values: object) -> None:
        """A short note in the corner; what is told may hold anything."""
        self.notify(Content(self.speak(key, **values)).plain, markup=False, timeout=4)

    def action_back(self) -> None:
        if len(self.app.screen_stack) > 2:  # below lies Textual's own default screen
            self.app.pop_screen()


__all__ = ["DoctorScreen"]
