"""The program's own words in English and Chinese, and which of the two a user reads."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

TYPE_CHECKING = False  # as typing's, whose import takes a third of the time that a help page may take
if TYPE_CHECKING:
    from doctor.words import Words

LANGUAGES = ("en", "zh")

Speak = Callable[..., str]
"""speak(key, **values) -> the text of that key with its `{values}` filled in."""


def language(asked: str | None, environ: Mapping[str, str]) -> str:
    """The language asked for, else that of the locale (the first of LC_ALL, LC_MESSAGES, LANG that is set), else English."""
    if asked in LANGUAGES:
        return str(asked)
    locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def words_of(language: str) -> Mapping[str, str]:
    """Every text of the program in one language, by key."""
    words: Mapping[str, str] = importlib.import_module(f"doctor.locale.{language if language in LANGUAGES else 'en'}").WORDS
    return words


def speaker(language: str) -> Speak:
    """The function that says the program's words in this language. It raises KeyError for a key that does not exist."""
    words = words_of(language)

    def speak(key: str, **values: object) -> str:
        return words[key].format(**values) if values else words[key]

    return speak


def room_speaker(words: Mapping[str, Words], language: str) -> Speak:
    """As `speaker`, for a room with words of its own: the room's word for a key, else the program's."""
    shared = words_of(language)

    def speak(key: str, **values: object) -> str:
        text = words[key][language] if key in words else shared[key]
        return text.format(**values) if values else text

    return speak


__all__ = ["LANGUAGES", "Speak", "language", "room_speaker", "speaker", "words_of"]
