"""`doctor record`: what was seen of a host, written down."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from doctor.bundle.words import WORDS
from doctor.locale import room_speaker
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import open_host, rulebook, selection
from doctor.tasks.examined import examined
from doctor.text import clean


def run(options: Options, folder: str, root: str | None, python: str | None, logs: Sequence[str]) -> Answer:
    """Looks at a host and writes down what was seen."""
    from doctor.host.recording import FolderNotEmptyError, RecordingHost

    book = rulebook()
    selection(options, book)
    host = open_host(options, None, root)
    try:
        recording = RecordingHost(host, Path(folder))
    except FolderNotEmptyError:
        raise Refused(options.speak("not_empty", folder=folder)) from None
    except (OSError, ValueError) as problem:
        raise Refused(options.speak("not_a_folder", folder=folder, why=getattr(problem, "strerror", None) or problem)) from None
    if options.detail >= 0:
        say = room_speaker(WORDS, options.language)
        click.echo("doctor: " + say("record_is_raw", folder=shlex.quote(clean(folder))), err=True)
    return examined(options, book, recording, python, logs, folder)
