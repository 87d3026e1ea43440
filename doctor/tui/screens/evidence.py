"""The evidence: the log or file in which it was seen, at its line, of any size; cleaned, searchable.

Contract: files are read in a thread and only as far as they are shown; nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from doctor.finding import Evidence
from doctor.logscan.sources import Source, SourceError, chunks
from doctor.report.style import short
from doctor.text import cell_width
from doctor.tui.job import HostJob, Job, TextJob
from doctor.tui.keys import Key, bindings
from doctor.tui.lines import FileLines, Lines, TextLines
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.widgets.filterbox import FilterBox
from doctor.tui.widgets.keybar import KeyBar
from doctor.tui.widgets.linesview import LinesView

COMPRESSED_CHUNKS = 32
"""Megabytes of a compressed log that are shown."""


def openable(job: Job, item: Evidence) -> bool:
    """Whether the evidence lies in something that can be shown: not so for a command's output."""
    if isinstance(job, TextJob):
        return bool(job.text) or any(source.label == item.source and source.path for source in job.sources)
    return isinstance(job, HostJob) and (item.source.startswith("/") or any(source.label == item.source for source in job.logs))


def opened(job: Job, evidence: Sequence[Evidence]) -> tuple[Job, Evidence] | None:
    """The first piece of evidence that can be shown."""
    return next(((job, item) for item in evidence if openable(job, item)), None)


def read(job: Job, item: Evidence) -> Lines:
    """The lines of the evidence's source; a line that says why where they cannot be had."""
    sources = job.sources if isinstance(job, TextJob) else job.logs if isinstance(job, HostJob) else ()
    if isinstance(job, TextJob) and job.text:
        return TextLines(job.text)
    for source in sources:
        if source.label == item.source and source.path is not None:
            return _file(source)
    text = job.host.read(item.source) if isinstance(job, HostJob) else ""
    return TextLines(str(text))


def _file(source: Source) -> Lines:
    try:
        if source.size >= 0 and source.path is not None:
            return FileLines(source.path)
        return TextLines(b"".join(chunk.data for chunk in islice(chunks(source), COMPRESSED_CHUNKS)).decode("utf-8", "replace"))
    except (SourceError, OSError) as problem:
        return TextLines(str(problem))


class EvidenceScreen(DoctorScreen):
    """Shows one source around one piece of evidence; `n` and `N` go through the matches of the search."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("escape", "back", "key_back", line=True),
        Key("slash", "filter_lines", "key_search", line=True),
        Key("n", "next", "key_next", line=True),
        Key("N", "previous", "key_previous", line=True),
        Key("w", "wrap", "key_wrap", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("g", "top", "key_top"),
        Key("G", "bottom", "key_bottom"),
    )
    BINDINGS = bindings(KEYS)

    def __init__(self, job: Job, item: Evidence) -> None:
        super().__init__()
        self._job, self._item = job, item
        self._lines: Lines | None = None
        self._searched = ""

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield LinesView()
        yield FilterBox()
        yield KeyBar(self.KEYS)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(LinesView).focus()
        self._load()

    def on_unmount(self) -> None:
        if isinstance(self._lines, FileLines):
            self._lines.close()

    @property
    def view(self) -> LinesView:
        return self.query_one(LinesView)

    @work(thread=True, group="load")
    def _load(self) -> None:
        lines = read(self._job, self._item)
        self.app.call_from_thread(self._loaded, lines)

    def _loaded(self, lines: Lines) -> None:
        self._lines = lines
        number = self._item.line or self._item.first
        if not number and (found := lines.find(self._item.text.strip(), 0)) is not None:
            number = found + 1
        self.view.show(lines, max(0, number - 1))
        self.retell()

    def retell(self) -> None:
        super().retell()
        self.query_one(FilterBox).tell(self.speak("evidence_search"))
        self._head()

    def _head(self) -> None:
        """The source and the place in it; of a long path its end is shown."""
        if self._lines is None:
            place = self.speak("evidence_opening")
        else:
            place = self.speak("evidence_at", line=self.view.marked + 1, count=self._lines.count)
        source, room = short(self._item.source, 500), max(10, self.size.width - 4 - cell_width(place))
        while cell_width(source) > room:
            source = "..." + source.removeprefix("...")[1 + (cell_width(source) - room) // 2 :]
        self.query_one("#title", Static).update(Content(f"{source}  {place}"))

    async def action_filter_lines(self) -> None:
        await self.query_one(FilterBox).open()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._searched = self.view.sought = event.value
        self._close()
        self._search(0, 1)

    def _close(self) -> None:
        self.query_one(FilterBox).hide()
        self.view.focus()

    def action_back(self) -> None:
        if self.query_one(FilterBox).is_open:
            self._close()
        else:
            super().action_back()

    def action_next(self) -> None:
        self._search(1, 1)

    def action_previous(self) -> None:
        self._search(-1, -1)

    def _search(self, offset: int, step: int) -> None:
        text = self._searched or self._item.text.strip()[:200]
        if self._lines is not None and text:
            self._find(self._lines, text, (self.view.marked + offset) % max(1, self._lines.count), step < 0)

    @work(thread=True, exclusive=True, group="search")
    def _find(self, lines: Lines, text: str, start: int, backward: bool) -> None:
        self.app.call_from_thread(self._found, text, lines.find(text, start, backward=backward))

    def _found(self, text: str, number: int | None) -> None:
        if number is None:
            self.say("evidence_none", text=text[:80])
        else:
            self._go(number)

    def _go(self, number: int) -> None:
        self.view.mark(number)

    def on_lines_view_marked(self) -> None:
        self._head()

    def action_wrap(self) -> None:
        self.view.set_class(not self.view.wrapped, "wrapped")
        self.view.wrap(on=not self.view.wrapped)

    def action_top(self) -> None:
        self._go(0)

    def action_bottom(self) -> None:
        self._go((self._lines.count if self._lines else 1) - 1)

    def plain_text(self) -> str:
        """The marked line with its neighbours."""
        if self._lines is None:
            return ""
        around = range(max(0, self.view.marked - 50), min(self._lines.count, self.view.marked + 51))
        return "".join(f"{number + 1}  {self._lines.line(number)}\n" for number in around)

    def action_copy(self) -> None:
        self.doctor.copy(self._lines.line(self.view.marked) if self._lines else "")


__all__ = ["EvidenceScreen", "opened", "openable", "read"]
