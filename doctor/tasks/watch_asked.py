"""What `doctor watch` was asked for: options read and checked, times in seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.locale import Speak, room_speaker
from doctor.record import dataclass
from doctor.tasks import Options, Refused
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.watch.judge import Settings

DAY = 86400.0


@dataclass(frozen=True)
class Asked:
    """What was asked for, read and checked. Times in seconds."""

    options: Options
    files: tuple[str, ...]
    pids: tuple[int, ...]
    url: str
    log: str
    root: str | None
    every: float
    lasting: float | None
    npu_every: float
    settings: Settings
    samples: str
    stream: bool
    textfile: str
    svg: str
    wait: bool

    @property
    def speak(self) -> Speak:
        from doctor.watch.words import WORDS

        return room_speaker(WORDS, self.options.language)


def seconds(options: Options, text: str) -> float:
    from doctor.watch.amounts import seconds_of
    from doctor.watch.words import WORDS

    found = seconds_of(text)
    if found is None or found > 3650 * DAY:
        raise Refused(WORDS["bad_duration"][options.language].format(text=clean(text)[:40]))
    return found


def settings_for(options: Options, span: float | None, warmup: str | None, least: str | None) -> Settings:
    from doctor.watch.judge import Settings

    settings = Settings.for_span(span) if span is not None else Settings()
    if warmup is not None:
        settings = replace(settings, warmup=seconds(options, warmup))
    if least is not None:
        enough = seconds(options, least)
        settings = replace(settings, least_leak=enough, least_suspect=min(settings.least_suspect, enough * 2 / 3))
    return settings


__all__ = ["Asked", "seconds", "settings_for"]
