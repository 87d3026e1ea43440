"""What a user types for a smoke test, read and checked: cards, the address of a server, a model's flags, a key, an interpreter.

Contract: pure but for the files that are named; what cannot be understood is a `Refusal` that says what would be.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from urllib.parse import urlsplit

from doctor.smoke.plan import Refusal
from doctor.text import clean_line

KEY_LIMIT = 4096
MOST_LOAD = 1000
"""Requests at once."""
LONGEST_LOAD = 3600.0
"""Seconds."""


def cards_asked(text: str) -> tuple[int, ...]:
    """The numbers of "0,1", each once."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() and len(word) < 4 for word in words) or len(set(words)) != len(words):
        raise Refusal("refused_cards")
    return tuple(int(word) for word in words)


def url_asked(url: str) -> str:
    """The address of a server, with its scheme; "" for none."""
    if not url:
        return ""
    whole = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(whole)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0) and parts.username is None
    except ValueError:
        good = False
    if not good:
        raise Refusal("refused_url", url=clean_line(url))
    return whole


def flags_asked(words: Sequence[str], model: str) -> tuple[str, ...]:
    """The user's own flags for `vllm serve MODEL`."""
    if words and not model:
        raise Refusal("refused_flags")
    if any(word == "--api-key" or word.startswith("--api-key=") for word in words):
        raise Refusal("refused_key_flag")
    return tuple(words)


def words_of(line: str) -> list[str]:
    """A line of flags as a shell would part it."""
    try:
        return shlex.split(line)
    except ValueError:
        raise Refusal("refused_quotes") from None


def python_asked(path: str) -> str | None:
    """The whole path of an interpreter; None for none."""
    if not path:
        return None
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        raise Refusal("refused_no_python_file", python=clean_line(path))
    return os.path.abspath(path)


def key_in_file(path: str) -> str:
    """The key of the server's API that stands in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            key = file.read(KEY_LIMIT).strip()
    except (OSError, ValueError):
        key = ""
    if not key or not key.isascii() or not key.isprintable():
        raise Refusal("refused_key", where=clean_line(path))
    return key


def load_asked(text: str) -> int:
    """Requests at once; 0 for none."""
    word = text.strip() or "0"
    if not (word.isascii() and word.isdecimal() and len(word) < 6 and int(word) <= MOST_LOAD):
        raise Refusal("refused_load", most=MOST_LOAD)
    return int(word)


def seconds_asked(text: str) -> float:
    """How long a load lasts."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1.0 <= seconds <= LONGEST_LOAD:
        raise Refusal("refused_load_seconds", most=int(LONGEST_LOAD))
    return seconds


__all__ = ["cards_asked", "flags_asked", "key_in_file", "load_asked", "python_asked", "seconds_asked", "url_asked", "words_of"]
