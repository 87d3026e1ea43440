"""Opens the app and ends everything that it started.

Contract: settings that Textual reads when it is imported are made before that; so this module imports neither it nor the app at its top.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from doctor.tui.terminal import shown_language

if TYPE_CHECKING:
    from doctor.examine import Selection
    from doctor.tui.job import Job

SLOW_SETTINGS = {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_FPS": "15", "TEXTUAL_SMOOTH_SCROLL": "0"}

GRACE = 0.5
"""Seconds that a program of a check has to end by itself."""

SWITCH = 0.001
"""Seconds after which Python takes the processor from a rule that runs, so that a key does not wait: a fifth of what is usual."""

DARK, ANSI = "textual-dark", "ansi-dark"


def open_app(
    job: Job, selection: Selection | None, *, language: str, theme: str | None, slow: bool, colour: bool, ascii_only: bool = False,
    read_only: bool = False, unsafe: str = "",
) -> None:  # fmt: skip
    """Runs the app until the user leaves it."""
    prepare(os.environ, slow=slow, colour=colour)
    from doctor.tui.app import BRISK, SLOW, DoctorApp
    from doctor.tui.fixjob import wait_for
    from doctor.tui.glyphs import choose

    plain = slow or not colour or bool(os.environ.get("NO_COLOR"))
    glyphs = choose(os.environ, language, ascii_only=ascii_only)
    shown = shown_language(os.environ, language)
    note = "" if shown == language else "console_english"
    app = DoctorApp(job, shown, theme or (ANSI if plain else DARK), selection, pace=SLOW if slow else BRISK, glyphs=glyphs, note=note, read_only=read_only, unsafe=unsafe)
    sys.setswitchinterval(SWITCH)
    try:
        app.run(mouse=not slow)
    finally:
        wait_for(app.makings)
        _end_children()


def prepare(environ: MutableMapping[str, str], *, slow: bool, colour: bool) -> None:
    """Sets what Textual reads from the environment."""
    if not colour:
        environ["NO_COLOR"] = "1"
    if slow:
        for name, value in SLOW_SETTINGS.items():
            environ.setdefault(name, value)


def _end_children() -> None:
    """A check that was under way may have left a program running; all children of this process are programs of checks."""
    import psutil

    children: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        children = psutil.Process().children(recursive=True)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.terminate()
    for child in psutil.wait_procs(children, timeout=GRACE)[1]:
        with contextlib.suppress(psutil.Error):
            child.kill()


__all__ = ["open_app", "prepare"]
