"""Opens the app and ends everything that it started.

Contract: settings that Textual reads when it is imported are made before that; so this module imports neither it nor the app at its top.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from doctor.tui.terminal import shown_language

if TYPE_CHECKING:
    from doctor.examine import Selection
    from doctor.tui.app import DoctorApp
    from doctor.tui.job import Job

SLOW_SETTINGS = {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_FPS": "15", "TEXTUAL_SMOOTH_SCROLL": "0"}

GRACE = 0.5
"""Seconds that a program of a check has to end by itself."""

LEAVE = 15.0
"""Seconds that a run which was told to stop has at the most; it ends its children at once."""

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
        _finish(app)
        for ending in app.endings:
            ending.wait(LEAVE)
        _end_children()


def prepare(environ: MutableMapping[str, str], *, slow: bool, colour: bool) -> None:
    """Sets what Textual reads from the environment."""
    for name in ("COLUMNS", "LINES"):  # where a shell exports them, they would hide every later change of the size
        environ.pop(name, None)
    if not colour:
        environ["NO_COLOR"] = "1"
    if slow:
        for name, value in SLOW_SETTINGS.items():
            environ.setdefault(name, value)


def _finish(app: DoctorApp) -> None:
    """However the app ended (a closed terminal, SIGTERM, a bug): a change that is under way is finished or put back first."""
    from doctor.tui.fixjob import wait_for

    if all(making.over.is_set() for making in app.makings):
        return
    for sign in (signal.SIGHUP, signal.SIGINT, signal.SIGTSTP):
        signal.signal(sign, signal.SIG_IGN)
    with contextlib.suppress(OSError, ValueError):
        print(f"doctor: {app.speak('fix_busy')}", file=sys.stderr, flush=True)
    wait_for(app.makings)


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
