"""An examination with its progress on standard error, and the ordinary report of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from doctor.record import dataclass
from doctor.report.style import Style
from doctor.tasks import Answer, Options
from doctor.tasks.common import label_of, open_logs, selection
from doctor.tasks.configured import policy_of, today, write_all
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.examine import Examination, Selection
    from doctor.host import Host
    from doctor.logscan.sources import Source
    from doctor.report.model import Report
    from doctor.rulebook import Rulebook


@dataclass(frozen=True)
class Looked:
    """An examination of a host, with the rules that were asked for and the inputs that could not be read to their end."""

    examination: Examination
    chosen: Selection
    problems: list[str]


def looked(options: Options, book: Rulebook, host: Host, python: str | None, logs: Sequence[str], recorded: Sequence[Source] = ()) -> Looked:
    """Examines a host and its logs; `recorded` are those that came with it."""
    from doctor.examine import examine_host
    from doctor.logscan.sources import all_chunks
    from doctor.report.progress import Progress

    chosen, sources, problems = selection(options, book), [*recorded, *open_logs(logs)], list[str]()
    with Progress(options.speak, options.detail) as progress:
        chunks = all_chunks(sources, problems, progress.read)
        examination = examine_host(host, book, chosen, python=python, chunks=chunks, heard=progress.heard)
    return Looked(examination, chosen, problems)


def examined(
    options: Options, book: Rulebook, host: Host, python: str | None, logs: Sequence[str], folder: str = "", recorded: Sequence[Source] = ()
) -> Answer:
    """The report of a host."""
    seen = looked(options, book, host, python, logs, recorded)
    return reported(options, seen.chosen, seen.examination, seen.problems, folder, host)


def examined_text(
    options: Options, files: Sequence[str], book: Rulebook, chosen: Selection, problems: list[str], recorded: Sequence[Source] = ()
) -> Examination:
    from doctor.examine import examine_text
    from doctor.logscan.sources import all_chunks
    from doctor.report.progress import Progress

    sources = [*recorded, *open_logs(files)]
    sizes = [source.size for source in sources]
    with Progress(options.speak, options.detail) as progress:
        chunks = all_chunks(sources, problems, progress.read)
        size = -1 if -1 in sizes else sum(sizes)
        return examine_text(label_of(sources, options.speak), chunks, book, chosen, size, progress.heard)


def reported(
    options: Options, chosen: Selection, examination: Examination, problems: list[str], folder: str = "", host: object = None
) -> Answer:
    """The report in the format that was asked for, and in a file each further one."""
    from doctor.policy import judge
    from doctor.report import model

    judged, suppressed = judge(examination, policy_of(options, examination.book), today())
    run = model.Run(options.command, options.started, options.language, chosen, options.fail_on)
    host_summary = model.summarise_host(examination)  # the last look at the host: what it asks is recorded as well
    if problem := getattr(host, "problem", ""):
        problems.append(problem)
    recorded = shlex.quote(clean(folder)) if folder else ""
    report = model.build(run, judged, host_summary, problems, recorded, suppressed)
    if options.outputs:
        unwritten = write_all(((path, _rendered(name, report, options, Style())) for name, path in options.outputs), options.speak)
        report = model.build(run, judged, host_summary, [*problems, *unwritten], recorded, suppressed)
    name = "json" if options.as_json else options.format
    return Answer(_rendered(name, report, options, options.style), _exit_code(options, report))


def _rendered(name: str, report: Report, options: Options, style: Style) -> str:
    from doctor.report import formats, text_format

    return text_format.render(report, style, options.detail) if name == "text" else formats.render(name, report)


def _exit_code(options: Options, report: Report) -> int:
    if options.format == "nagios":
        from doctor.report import nagios

        return nagios.code(report)
    return report.exit_code
