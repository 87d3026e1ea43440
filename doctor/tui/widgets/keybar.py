"""The line of keys at the bottom: as many as fit, help and quit always."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from doctor.locale import Speak
from doctor.text import cell_width
from doctor.tui.keys import COMMON, Key


class KeyBar(Static):
    """Shows the keys of a screen in the user's language."""

    def __init__(self, keys: Sequence[Key]) -> None:
        super().__init__()
        self._keys = [key for key in keys if key.line]
        self._speak: Speak | None = None

    def retell(self, speak: Speak) -> None:
        self._speak = speak
        self._paint()

    def on_resize(self) -> None:
        self._paint()

    def _paint(self) -> None:
        if self._speak is None:
            return
        always = [(key.shown, self._speak(key.word)) for key in COMMON if key.line]
        room = (self.size.width or 80) - 1 - sum(_cells(part) for part in always)
        shown = []
        for key in self._keys:
            part = key.shown, self._speak(key.word)
            room -= _cells(part)
            if room < 0:
                break
            shown.append(part)
        parts = [piece for name, word in [*shown, *always] for piece in (Content.styled(name, "bold $accent"), Content(f" {word}  "))]
        self.update(Content.assemble(" ", *parts), layout=False)


def _cells(part: tuple[str, str]) -> int:
    return len(part[0]) + cell_width(part[1]) + 3


__all__ = ["KeyBar"]
