"""What each command does: one module a command with `run(options, **given)`, from its options to its answer.

Contract: a task returns an `Answer`; it prints nothing on standard output. What a user asked wrongly is a `Refused` with the remedy.
Everything heavy is imported where it is used.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import click

from doctor.locale import Speak, speaker
from doctor.record import dataclass

if TYPE_CHECKING:
    from doctor.config import Config
    from doctor.report.style import Style


class Refused(click.UsageError):
    """A usage error: the text says what was wrong and what to do instead."""


@dataclass(frozen=True)
class Answer:
    """What goes to standard output, and the exit code."""

    text: str
    exit_code: int = 0


@dataclass(frozen=True)
class Options:
    """The options that all commands have. `detail`: -1 quiet, 0 ordinary, 1 verbose."""

    command: str
    language: str = "en"
    as_json: bool = False
    fail_on: str = "fail"
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    colour_allowed: bool = True
    timeout_scale: float = 1.0
    detail: int = 0
    format: str = "text"
    outputs: tuple[tuple[str, str], ...] = ()
    """Further formats, each with its file."""
    baseline: str | None = None
    config: Config | None = None
    profile: str = "standard"
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))

    @property
    def speak(self) -> Speak:
        return speaker(self.language)

    @property
    def style(self) -> Style:
        """The style of standard output."""
        from doctor.report.style import Style

        terminal = sys.__stdout__ is not None and sys.__stdout__.isatty()
        return Style.of(os.environ, shutil.get_terminal_size().columns if terminal else 0, allowed=self.colour_allowed)
