"""An examination with its progress on standard error, and the ordinary report of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from doctor.tasks import Answer, Options
from doctor.tasks.common import label_of, open_logs, selection
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.examine import Examination, Selection
    from doctor.host import Host
    from doctor.rulebook import Rulebook


def examined(options: Options, book: Rulebook, host: Host, python: str | None, logs: Sequence[str], folder: str = "") -> Answer:
    from doctor.examine import examine_host
    from doctor.logscan.sources import all_chunks
    from doctor.report.progress import Progress

    chosen, sources, problems = selection(options, book), open_logs(logs), list[str]()
    with Progress(options.speak, options.detail) as progress:
        chunks = all_chunks(sources, problems, progress.read)
        examination = examine_host(host, book, chosen, python=python, chunks=chunks, heard=progress.heard)
    return reported(options, chosen, examination, problems, folder, host)


def examined_text(options: Options, files: Sequence[str], book: Rulebook, chosen: Selection, problems: list[str]) -> Examination:
    from doctor.examine import examine_text
    from doctor.logscan.sources import all_chunks
    from doctor.report.progress import Progress

    sources = open_logs(files)
    sizes = [source.size for source in sources]
    with Progress(options.speak, options.detail) as progress:
        chunks = all_chunks(sources, problems, progress.read)
        size = -1 if -1 in sizes else sum(sizes)
        return examine_text(label_of(sources, options.speak), chunks, book, chosen, size, progress.heard)


def reported(
    options: Options, chosen: Selection, examination: Examination, problems: list[str], folder: str = "", host: object = None
) -> Answer:
    from doctor.report import model

    run = model.Run(options.command, options.started, options.language, chosen, options.fail_on)
    host_summary = model.summarise_host(examination)  # the last look at the host: what it asks is recorded as well
    if problem := getattr(host, "problem", ""):
        problems.append(problem)
    report = model.build(run, examination, host_summary, problems, shlex.quote(clean(folder)) if folder else "")
    if options.as_json:
        from doctor.report import json_format

        return Answer(json_format.render(report), report.exit_code)
    from doctor.report import text_format

    return Answer(text_format.render(report, options.style, options.detail), report.exit_code)
