"""Keys as data: from one list come a screen's bindings, its line of keys, its help, and its entries in the palette."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from doctor.record import dataclass

_SHOWN = {"question_mark": "?", "slash": "/", "ctrl+r": "ctrl+r", "escape": "esc", "right_square_bracket": "]", "left_square_bracket": "["}


@dataclass(frozen=True)
class Key:
    """One action: its first key is the one that is shown. `word` is a key of the words; `line` puts it into the line of keys."""

    keys: str
    action: str
    word: str
    line: bool = False
    priority: bool = False
    changes: bool = False
    """It leads to a change of the machine: with --read-only it is not there."""
    live: bool = False
    """It needs the machine itself: with a recording or a log it is not there."""

    @property
    def shown(self) -> str:
        first = self.keys.partition(",")[0]
        return _SHOWN.get(first, first)


COMMON = (
    Key("s", "save_text", "key_save"),
    Key("S", "save_svg", "key_save_svg"),
    Key("L", "switch_language", "key_language"),
    Key("T", "next_theme", "key_theme"),
    Key("ctrl+p", "command_palette", "key_palette"),
    Key("question_mark", "help", "key_help", line=True),
    Key("q", "quit", "key_quit", line=True),
)
"""What every screen knows; the app carries it out."""


def offered(keys: Iterable[Key], *, read_only: bool, live: bool) -> tuple[Key, ...]:
    """The keys that are there."""
    return tuple(key for key in keys if not (read_only and key.changes) and (live or not key.live))


def bindings(keys: Iterable[Key]) -> list[BindingType]:
    return [Binding(key.keys, key.action, key.word, show=False, priority=key.priority) for key in keys]


__all__ = ["COMMON", "Key", "bindings", "offered"]
