"""What the bundle screen works on: what is gathered of a job's machine, and the writing of it. Knows no Textual.

Contract: both functions block; run them in a thread. Nothing is written but the finished file.
"""

from __future__ import annotations

import contextlib
import os
import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from doctor.record import dataclass
from doctor.text import clean_line
from doctor.tui.job import HostJob
from doctor.tui.told import Told
from doctor.tui.watch import Watch, WatchedHost

if TYPE_CHECKING:
    from doctor.bundle.gather import Gathered

PROFILES = ("support", "public", "raw")

NICE = 10
"""A serving machine comes first."""


@dataclass(frozen=True)
class Written:
    """A bundle that lies there. `size` in bytes."""

    path: str
    size: int
    members: int
    profile: str


def gathered(job: HostJob, profile: str, language: str, watch: Watch) -> Gathered | Told:
    """What a bundle would hold. Raises `Stopped` where nobody waits for it any more."""
    from doctor.bundle.gather import Gathering, RedactionError, gather
    from doctor.bundle.results import newest_results
    from doctor.examine import Selection
    from doctor.rulebook import load

    live = job.root == "/"
    if live:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)  # of this thread, and of the programs that it starts
    book, chosen = load(), job.selection or Selection()
    watch.total = len(chosen.chosen(book.rules.values()))
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    results = tuple(newest_results(os.environ, os.geteuid())) if live else ()
    wanted = Gathering(profile, job.python, chosen, language, results, find_logs=live, started=started)
    try:
        return gather(WatchedHost(job.host, watch), book, wanted, job.logs, watch.heard, watch.read)
    except RedactionError as problem:
        return Told("not_masked", {"what": clean_line(str(problem))})


def written(gathered: Gathered, path: Path) -> Written | Told:
    """The bundle in a new file."""
    from doctor.bundle import pack
    from doctor.bundle.gather import RedactionError

    place = pack.marked(path, gathered.profile)
    try:
        members = gathered.members()
        size = pack.write(members, place, gathered.time)
    except RedactionError as problem:
        return Told("not_masked", {"what": clean_line(str(problem))})
    except (pack.PackError, ValueError) as problem:  # ValueError: a name that no file can have
        return Told("not_saved", {"why": clean_line(str(problem))})
    return Written(os.path.abspath(place), size, len(members), gathered.profile)


__all__ = ["PROFILES", "Written", "gathered", "written"]
