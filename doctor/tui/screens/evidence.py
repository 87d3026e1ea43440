"""The evidence: the log or file in which it was seen, at its line, of any size; cleaned, searchable.

Contract: files are read in a thread and only as far as they are shown; nothing is written.
"""

from __future__ import annotations

import threading
import time
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

GROWS = 3
"""Ticks between two paints of what is still counted or searched."""

SOON = 0.3
"""Seconds after which a search tells how far it is."""

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
        self._left = threading.Event()
        self._sought = threading.Event()
        """Ends the search that is under way."""
        self._share: float | None = None
        """How much of the source was searched; None while there is no search."""
        self._target: int | None = None
        """The line that is wanted, until it is counted."""
        self._waits_at = 0
        """Where the cursor stands meanwhile."""

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
        self._left.set()
        self._sought.set()
        if isinstance(self._lines, FileLines):
            self._lines.close()

    @property
    def view(self) -> LinesView:
        return self.query_one(LinesView)

    @work(thread=True, group="load")
    def _load(self) -> None:
        lines = read(self._job, self._item)
        self.app.call_from_thread(self._loaded, lines)
        if not lines.counted:
            told = [time.monotonic()]

            def heard(share: float) -> None:
                if time.monotonic() - told[0] > self.doctor.pace.tick * GROWS:
                    self.app.call_from_thread(self._grown)
                    told[0] = time.monotonic()

            lines.count_on(self._left.is_set, heard)
            if not self._left.is_set():
                self.app.call_from_thread(self._grown)

    def _loaded(self, lines: Lines) -> None:
        self._lines = lines
        number = self._item.line or self._item.first
        self.view.show(lines, max(0, number - 1))
        if number > lines.count and not lines.counted:
            self._target, self._waits_at = number - 1, self.view.marked
        elif not number and (text := self._item.text.strip()):
            self._begin_search(text, 0, backward=False, asked=False)
        self.retell()

    def _grown(self) -> None:
        """More lines are counted: the one that is wanted may be among them, unless the user went elsewhere meanwhile."""
        if self._lines is None or not self.is_attached:
            return
        target = self._target
        self.view.grow()
        if target is not None and (target < self._lines.count or self._lines.counted):
            self._target = None
            self.view.mark(target)
        self._head()

    def retell(self) -> None:
        super().retell()
        self.query_one(FilterBox).tell(self.speak("evidence_search"))
        self._head()

    def _head(self) -> None:
        """The source and the place in it; of a long path its end is shown."""
        if self._lines is None:
            place = self.speak("evidence_opening")
        elif self._share is not None:
            place = self.speak("evidence_searching", share=self._share)
        elif not self._lines.counted:
            place = self.speak("evidence_counting", line=self.view.marked + 1, count=self._lines.count)
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
        elif self._share is not None:
            self._end_search()
        else:
            super().action_back()

    def action_next(self) -> None:
        self._search(1, 1)

    def action_previous(self) -> None:
        self._search(-1, -1)

    def _search(self, offset: int, step: int) -> None:
        text = self._searched or self._item.text.strip()[:200]
        if self._lines is not None and text:
            self._begin_search(text, (self.view.marked + offset) % max(1, self._lines.count), backward=step < 0)

    def _begin_search(self, text: str, start: int, *, backward: bool, asked: bool = True) -> None:
        """Ends the search before it; the user is told of nothing that he did not ask for."""
        self._sought.set()
        self._sought = threading.Event()
        self._target = None
        if self._lines is not None:
            self._find(self._lines, self._sought, text, start, backward, asked)

    @work(thread=True, group="search")
    def _find(self, lines: Lines, ended: threading.Event, text: str, start: int, backward: bool, asked: bool) -> None:
        begin = told = time.monotonic()

        def heard(share: float) -> None:
            nonlocal told
            now = time.monotonic()
            if now - begin > SOON and now - told > self.doctor.pace.tick * GROWS and not ended.is_set():
                self.app.call_from_thread(self._heard, ended, share)
                told = now

        found = lines.find(text, start, backward=backward, stopped=ended.is_set, heard=heard)
        if not ended.is_set():
            self.app.call_from_thread(self._found, ended, text, found, asked)

    def _heard(self, ended: threading.Event, share: float) -> None:
        if ended is self._sought and not ended.is_set():
            self._share = share
            self._head()

    def _found(self, ended: threading.Event, text: str, number: int | None, asked: bool) -> None:
        if ended is not self._sought or ended.is_set():
            return
        self._end_search()
        self.view.grow()  # a search counts the lines as well
        if number is not None:
            self._go(number)
        elif asked:
            self.say("evidence_none", text=text[:80])

    def _end_search(self) -> None:
        self._sought.set()
        self._share = None
        self._head()

    def _go(self, number: int) -> None:
        self.view.mark(number)

    def on_lines_view_marked(self) -> None:
        if self._target is not None and self.view.marked != self._waits_at:
            self._target = None  # the user went elsewhere
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
