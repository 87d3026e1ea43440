"""Help: the keys of the screen it was asked on, from its own list of keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.report.style import Style, padded
from doctor.text import cell_width
from doctor.tui.keys import COMMON, Key
from doctor.tui.screens.page import Lines
from doctor.tui.words import speaker

_NAMES = {"escape": "esc", "question_mark": "?", "slash": "/", "right_square_bracket": "]", "left_square_bracket": "["}


def help_page(keys: Sequence[Key]) -> Lines:
    """The page for a screen with these keys."""

    def lines(language: str, style: Style) -> Iterator[str]:
        speak = speaker(language)
        every = [*keys, *COMMON]
        names = [" ".join(_NAMES.get(one, one) for one in key.keys.split(",")) for key in every]
        wide = max(map(cell_width, names)) + 2
        yield speak("help_title")
        yield ""
        for name, key in zip(names, every, strict=True):
            yield f"  {padded(name, wide)}{speak(key.word)}"
        if any(key.action == "filter" for key in keys):
            yield ""
            yield from style.lines(speak("help_filter"), "")
        yield ""
        yield from style.lines(speak("help_may_change" if any(key.changes for key in keys) else "help_nothing_changes"), "")

    return lines


__all__ = ["help_page"]
