"""`doctor tui`: the app on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import label_of, open_host, open_logs, rulebook, selection
from doctor.tasks.recorded import opened, recorded_logs

if TYPE_CHECKING:
    from doctor.examine import Selection
    from doctor.tui.job import Job


def run(
    options: Options, files: Sequence[str], recorded: str | None, root: str | None, python: str | None, logs: Sequence[str], theme: str | None, slow: bool,
    ascii_only: bool = False, read_only: bool = False,
) -> Answer:  # fmt: skip
    """Opens the app and stays in it until the user leaves."""
    from doctor.tui.terminal import LEAST_COLUMNS, LEAST_LINES, why_not

    if options.as_json:
        raise Refused(options.speak("tui_no_json"))
    if files and (recorded or root or python or logs):
        raise Refused(options.speak("text_and_host"))
    if "-" in (*files, *logs):
        raise Refused(options.speak("tui_no_stdin"))
    if reason := why_not():
        raise Refused(options.speak(reason, columns=LEAST_COLUMNS, lines=LEAST_LINES))
    from doctor.tui.job import TextJob
    from doctor.tui.run import open_app

    unsafe = "" if files or recorded or read_only else _isolated()
    asked = bool(options.only or options.skip)
    chosen = selection(options, rulebook()) if asked else None  # the rules are loaded behind the first paint
    job: Job
    if files:
        sources = tuple(open_logs(files))
        job = TextJob(label_of(sources, options.speak), sources, selection=chosen)
    else:
        job = _host_job(options, recorded, root, python, logs, chosen)
    open_app(job, chosen, language=options.language, theme=theme, slow=slow, colour=options.colour_allowed, ascii_only=ascii_only, read_only=read_only, unsafe=unsafe)
    return Answer("")


def _isolated() -> str:
    """An app in which root may change the machine starts anew, out of reach of the caller's environment. Where that cannot be had, what others could change."""
    from doctor.apply.isolate import OthersCanChangeItError, isolate, own_arguments

    arguments = own_arguments()
    if os.geteuid() != 0 or sys.flags.isolated or arguments is None:
        return ""
    try:
        isolate(arguments)
    except OthersCanChangeItError as problem:
        return str(problem)
    return ""  # not reached


def _host_job(options: Options, recorded: str | None, root: str | None, python: str | None, logs: Sequence[str], chosen: Selection | None) -> Job:
    """The host, with the logs of its bundle; what another tool collected may be logs only."""
    from doctor.tui.job import HostJob, TextJob

    if recorded and not root and (found := opened(recorded)).host is None:
        sources = (*found.logs, *open_logs(logs))
        return TextJob(label_of(sources, options.speak), sources, selection=chosen)
    place = "" if recorded else os.path.abspath(root or "/")
    return HostJob(open_host(options, recorded, root), chosen, python, (*recorded_logs(recorded), *open_logs(logs)), place, options.timeout_scale)
