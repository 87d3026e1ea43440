"""What `--from` names, for every task: the recorded host, and the logs that lie in a bundle or another tool's collection."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doctor.bundle.words import WORDS
from doctor.locale import room_speaker
from doctor.tasks import Options, Refused
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.bundle.opened import Opened
    from doctor.host import Host
    from doctor.logscan.sources import Source


@functools.lru_cache(maxsize=2)
def _open(name: str, _folder: str, _time: float) -> Opened:
    from doctor.bundle.opened import open_recorded

    return open_recorded(Path(name))


def opened(name: str) -> Opened:
    """What lies there; read once. Raises `Refused`."""
    from doctor.host.recorded import NotAHost

    try:
        found = _open(name, os.getcwd(), os.stat(name).st_mtime if os.path.exists(name) else 0.0)
    except (NotAHost, OSError, ValueError) as problem:
        raise Refused(clean(str(problem))) from None
    for note in found.notes:
        click.echo(f"doctor: {clean(name)}: {clean(note)}", err=True)
    return found


def recorded_host(options: Options, name: str) -> Host:
    """The host that lies there. Raises `Refused` where there are only logs."""
    found = opened(name)
    if found.host is None:
        raise Refused(room_speaker(WORDS, options.language)("only_logs", name=clean(name)))
    return found.host


def recorded_logs(name: str | None) -> list[Source]:
    """The logs that lie there too."""
    return list(opened(name).logs) if name else []


def host_and_logs(options: Options, recorded: str | None, root: str | None) -> tuple[Host, list[Source]]:
    """The host that was asked for, and the logs that came with it."""
    from doctor.tasks.common import open_host

    return open_host(options, recorded, root), recorded_logs(recorded)


__all__ = ["host_and_logs", "opened", "recorded_host", "recorded_logs"]
