"""What a checkup screen examines: a host, log files, or a pasted text. Runs in a thread of its own and gives the report that all faces share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Protocol

from doctor.diagnosis import diagnose
from doctor.examine import Examination, Selection, examine_host, examine_text
from doctor.host import Host
from doctor.logscan.scan import Chunk
from doctor.logscan.sources import Source, all_chunks, text_chunk
from doctor.report.model import Report, Run, build, summarise_host
from doctor.rulebook import Rulebook, load
from doctor.tui.watch import Watch, WatchedHost


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
    selection: Selection = Selection()
    python: str | None = None
    logs: tuple[Source, ...] = ()

    @property
    def label(self) -> str:
        return self.host.label

    def run(self, watch: Watch, only: str = "") -> Report:
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
    selection: Selection = Selection()

    def run(self, watch: Watch, only: str = "") -> Report:
        book, chosen = _chosen(self.selection, watch, only)
        problems: list[str] = []
        sizes = [source.size for source in self.sources]
        pieces: Iterable[Chunk] = all_chunks(self.sources, problems, watch.read)
        size = -1 if -1 in sizes else sum(sizes)
        if self.text:
            pieces, size = [text_chunk(self.text, self.label)], len(self.text)
        return _reported("log", chosen, examine_text(self.label, pieces, book, chosen, size, watch.heard), problems)


def _chosen(selection: Selection, watch: Watch, only: str) -> tuple[Rulebook, Selection]:
    book = load()
    chosen = Selection(only=(only,)) if only else selection
    watch.total = len(chosen.chosen(book.rules.values()))
    return book, chosen


def _reported(command: str, chosen: Selection, examination: Examination, problems: Sequence[str]) -> Report:
    run = Run(command, datetime.now(timezone.utc).isoformat(timespec="seconds"), selection=chosen)
    return build(run, examination, summarise_host(examination), problems)


def merged(whole: Report, part: Report) -> Report:
    """The report with the verdicts of a later run of some of its rules in the place of the old ones."""
    newer = {verdict.rule: verdict for verdict in part.examination.verdicts}
    verdicts = tuple(newer.get(verdict.rule, verdict) for verdict in whole.examination.verdicts)
    causes = diagnose(verdicts, whole.examination.book.rules)
    examination = replace(whole.examination, verdicts=verdicts, causes=causes)
    return build(replace(whole.run, started=part.run.started), examination, whole.host, whole.problems, whole.recorded)


__all__ = ["HostJob", "Job", "TextJob", "merged"]
