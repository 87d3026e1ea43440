"""Whether a terminal can carry the app. Imports no Textual, so that asking costs nothing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from typing import TextIO

LEAST_COLUMNS, LEAST_LINES = 60, 15
"""Smaller, the list of causes shows no whole row."""

NO_TERMINAL = "tui_no_terminal"

TEXT_ONLY = ("", "dumb", "unknown")
"""Values of TERM that stand for no cursor movement; Textual would paint all the same."""

THEMES = ("textual-dark", "textual-light", "high-contrast", "ansi-dark", "ansi-light")
"""Of Textual, but for the third; the last two leave the colours to the terminal."""


def why_not() -> str:
    """The key of the sentence that says why this process's terminal cannot carry the app, "" where it can."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)  # Textual reads the first and paints on the last
    size = shutil.get_terminal_size()
    return refusal(os.environ, all(map(_is_terminal, streams)), size.columns, size.lines)


def refusal(environ: Mapping[str, str], terminal: bool, columns: int, lines: int) -> str:
    """As `why_not`, for a given environment and size in cells."""
    if not terminal:
        return NO_TERMINAL
    if environ.get("TERM", "") in TEXT_ONLY:
        return "tui_dumb"
    if columns < LEAST_COLUMNS or lines < LEAST_LINES:
        return "tui_small"
    return "" if importlib.util.find_spec("textual") else "tui_no_textual"


def shown_language(environ: Mapping[str, str], language: str) -> str:
    """The language that the terminal can show: the Linux console has no Chinese characters."""
    return "en" if environ.get("TERM") == "linux" else language


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


__all__ = ["LEAST_COLUMNS", "LEAST_LINES", "NO_TERMINAL", "THEMES", "refusal", "shown_language", "why_not"]
