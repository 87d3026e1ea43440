"""What a checkup screen examines: a host, log files, or a pasted text. Runs in a thread of its own and gives the report that all faces share.

Contract: the engine is imported by the thread: the first paint does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Protocol

from doctor.record import dataclass
from doctor.tui.watch import Watch, WatchedHost

if TYPE_CHECKING:
    from doctor.examine import Examination, Selection
    from doctor.host import Host
    from doctor.logscan.scan import Chunk
    from doctor.logscan.sources import Source
    from doctor.report.model import Report
    from doctor.rulebook import Rulebook


class Job(Protocol):
    """Something to examine, as often as wanted."""

    @property
    def label(self) -> str: ...

    def run(self, watch: Watch, only: str = "") -> Report:
        """The report; with `only`, of that rule alone. Raises `Stopped` where the watch was stopped."""
        ...


@dataclass(frozen=True)
class HostJob:
    """A host, live or recorded, with the logs that belong to it."""

    host: Host
    selection: Selection | None = None
    python: str | None = None
    logs: tuple[Source, ...] = ()
    root: str = ""
    """Where fixes are made: "/" or the folder that was named; "" for a recording, which nobody can change."""
    timeout_scale: float = 1.0

    @property
    def label(self) -> str:
        return self.host.label

    def run(self, watch: Watch, only: str = "") -> Report:
        from doctor.examine import examine_host
        from doctor.logscan.sources import all_chunks

        book, chosen = _chosen(self.selection, watch, only)
        problems: list[str] = []
        host = WatchedHost(self.host, watch)
        examination = examine_host(host, book, chosen, python=self.python, chunks=all_chunks(self.logs, problems, watch.read), heard=watch.heard)
        return _reported("check", chosen, examination, problems)


@dataclass(frozen=True)
class TextJob:
    """Logs, or a pasted text (then `text` is it, cleaned). `label` names them."""

    label: str
    sources: tuple[Source, ...] = ()
    text: str = field(default="", repr=False)
    selection: Selection | None = None

    def run(self, watch: Watch, only: str = "") -> Report:
        from doctor.examine import examine_text
        from doctor.logscan.sources import all_chunks, text_chunk

        book, chosen = _chosen(self.selection, watch, only)
        problems: list[str] = []
        sizes = [source.size for source in self.sources]
        pieces: Iterable[Chunk] = all_chunks(self.sources, problems, watch.read)
        size = -1 if -1 in sizes else sum(sizes)
        if self.text:
            pieces, size = [text_chunk(self.text, self.label)], len(self.text)
        return _reported("log", chosen, examine_text(self.label, pieces, book, chosen, size, watch.heard), problems)


def _chosen(selection: Selection | None, watch: Watch, only: str) -> tuple[Rulebook, Selection]:
    from doctor.examine import Selection
    from doctor.rulebook import load

    book = load()
    chosen = Selection(only=(only,)) if only else selection or Selection()
    watch.total = len(chosen.chosen(book.rules.values()))
    return book, chosen


def _reported(command: str, chosen: Selection, examination: Examination, problems: Sequence[str]) -> Report:
    from doctor.report.model import Run, build, summarise_host

    run = Run(command, datetime.now(timezone.utc).isoformat(timespec="seconds"), selection=chosen)
    return build(run, examination, summarise_host(examination), problems)


def merged(whole: Report, part: Report) -> Report:
    """The report with the verdicts of a later run of some of its rules in the place of the old ones."""
    from doctor.diagnosis import diagnose
    from doctor.report.model import build

    newer = {verdict.rule: verdict for verdict in part.examination.verdicts}
    verdicts = tuple(newer.get(verdict.rule, verdict) for verdict in whole.examination.verdicts)
    causes = diagnose(verdicts, whole.examination.book.rules)
    examination = replace(whole.examination, verdicts=verdicts, causes=causes)
    return build(replace(whole.run, started=part.run.started), examination, whole.host, whole.problems, whole.recorded)


__all__ = ["HostJob", "Job", "TextJob", "merged"]
