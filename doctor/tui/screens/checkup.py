"""The checkup: the machine in a line, the counts, the causes as a list, and the detail of the one under the cursor.

Contract: the examination runs in a thread of its own, so that the first paint waits for nothing and no key waits for a check. The thread
is a daemon: a program that hangs does not keep the app from ending.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from doctor.tui import headlines
from doctor.tui.background import behind
from doctor.tui.detail import Detail, brief, whole_report
from doctor.tui.job import Job, merged
from doctor.tui.keys import Key, bindings
from doctor.tui.rows import Filter, Known, Row, Shown, by_area, findings_of, rows_of, rows_so_far
from doctor.tui.screens.leading import LeadingScreen
from doctor.tui.watch import Watch
from doctor.tui.widgets.filterbox import FilterBox
from doctor.tui.widgets.findings import Findings
from doctor.tui.widgets.keybar import KeyBar
from doctor.tui.widgets.textview import TextView

if TYPE_CHECKING:
    from doctor.report.model import Report

DETAIL_LENGTH = 20_000
"""Characters of detail shown beside the list; the whole is one key away."""


class CheckupScreen(LeadingScreen):
    """Runs a job and shows what it finds while it runs."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("enter", "open", "key_open", line=True),
        Key("escape", "back", "key_back"),
        Key("r", "rerun", "key_rerun", line=True),
        Key("R", "rerun_one", "key_rerun_one"),
        Key("slash", "filter", "key_filter", line=True),
        Key("n", "npus", "key_npus", line=True),
        Key("F", "fix", "key_fix", line=True, changes=True),
        Key("l", "logs", "key_logs", line=True),
        Key("B,ctrl+b", "bundle", "key_bundle"),
        Key("H", "history", "key_history"),
        Key("t", "smoke", "key_smoke", line=True, changes=True, live=True),
        Key("w", "watch", "key_watch", line=True, live=True),
        Key("e", "explain", "key_explain", line=True),
        Key("space", "fold", "key_fold"),
        Key("1,2,3,4,5,6,7,8,9,0", "areas", "key_areas"),
        Key("x", "skipped", "key_skipped", line=True),
        Key("p", "passed", "key_passed", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("v", "evidence", "key_evidence"),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    # The list itself answers enter.
    BINDINGS = [*bindings(key for key in KEYS if key.action not in ("open", "areas")), *(Binding(str(n), f"area({n})", show=False) for n in range(10))]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]

    class Finished(Message):
        """The thread's last word: a report, or why there is none."""

        def __init__(self, watch: Watch, report: Report | None, only: str, problem: str = "") -> None:
            super().__init__()
            self.watch, self.report, self.only, self.problem = watch, report, only, problem

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.report: Report | None = None
        self.idle = asyncio.Event()
        """Set while no examination runs."""
        self._watch: Watch | None = None
        self._timer: Timer | None = None
        self._resting: Timer | None = None
        self._before: Known | None = None
        self._shown = Shown()
        self._filter = Filter()
        self._rows: list[Row] = []
        self._made: tuple[object, list[Row]] = (None, [])
        self._failure = ""

    def compose(self) -> ComposeResult:
        yield Static(id="machine", classes="headline")
        yield Static(id="counts", classes="headline")
        yield Static(id="areas", classes="headline")
        with Container(id="body"):
            yield Findings()
            yield TextView(id="side")
        yield FilterBox()
        yield KeyBar(self.offered)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(Findings).set_class(self.doctor.pace.frugal, "-frugal")
        self._timer = self.set_interval(self.doctor.pace.tick, self._tick, pause=True)
        self.call_after_refresh(self._begin)  # it competes with the first paint

    def on_unmount(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    # The examination

    def _begin(self, only: str = "") -> None:
        if self._watch is not None:
            self._watch.stop()
        watch = self._watch = Watch()
        self.idle.clear()
        behind(self, lambda: self._examine(watch, only), "examination")
        if self._timer is not None:
            self._timer.resume()
        self._tick()

    def _examine(self, watch: Watch, only: str) -> Finished:
        """In the thread."""
        try:
            return self.Finished(watch, self.job.run(watch, only), only)
        except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
            return self.Finished(watch, None, only, f"{type(problem).__name__}: {problem}")

    def on_checkup_screen_finished(self, event: Finished) -> None:
        if event.watch is not self._watch:
            return
        self._watch = None
        if self._timer is not None:
            self._timer.pause()
        self._failure = event.problem
        if event.report is None:
            self.say("failed", why=event.problem)
        elif event.only and self.report is not None:
            self._before, self.report = findings_of(self.report), merged(self.report, event.report)
        else:
            self._before = findings_of(self.report) if self.report is not None else None
            self.report = event.report
        self._refresh()
        self.idle.set()

    def _tick(self) -> None:
        if self._watch is not None and self.report is None:
            self._show_rows()
        self._headlines()

    # What is seen

    def retell(self) -> None:
        super().retell()
        self.query_one(FilterBox).tell(self.speak("key_filter"))
        self._refresh()

    def _refresh(self) -> None:
        self._show_rows()
        self._headlines()
        self._detail()

    def _show_rows(self) -> None:
        shown = self._filter.opened(self._shown)
        if self.report is not None:
            asked = id(self.report), shown, self._before
            if self._made[0] != asked:  # what a filter chooses from stays the same while it is typed
                self._made = asked, list(rows_of(self.report, shown, self._before))
            rows = self._made[1]
        elif self._watch is not None and self._watch.verdicts:
            from doctor.rulebook import load

            rows = list(rows_so_far(list(self._watch.verdicts), load().rules))
        else:
            rows = []
        self._rows = [row for row in rows if self._filter.passes(row)]
        self.query_one(Findings).show(self._rows, self.speak, self.language)

    def _headlines(self) -> None:
        width = self.size.width - 2
        lines = {
            "machine": headlines.machine(self.report, self.job.label, self.speak, width),
            "counts": headlines.counts(self.report, self._watch, self._before, self.speak, width),
            "areas": headlines.areas(self.report, self.speak, width),
        }
        for name, content in lines.items():
            self.query_one(f"#{name}", Static).update(content, layout=False)

    def _detail(self) -> None:
        side = self.query_one(TextView)
        if not side.display:
            return
        detail = Detail(self.report, self.language, side.room - 1)
        row = self.current
        if row is not None:
            content = detail.of(row)
        elif self.report is not None and self._filter != Filter():
            content = Content(self.speak("nothing_matches"))
        else:
            content = detail.summary(self._failure)
        side.show(brief(content, self.speak("detail_rest")) if self.doctor.pace.frugal else content[:DETAIL_LENGTH])

    def on_resize(self) -> None:
        self.call_after_refresh(self._headlines)
        self.call_after_refresh(self._detail)

    def on_findings_moved(self) -> None:
        """The detail follows at once, or over a slow line as soon as the cursor rests."""
        if self._resting is not None:
            self._resting.stop()
        if self.doctor.pace.rest:
            self._resting = self.set_timer(self.doctor.pace.rest, self._detail)
        else:
            self._detail()

    @property
    def current(self) -> Row | None:
        return self.query_one(Findings).current

    def on_findings_chosen(self, event: Findings.Chosen) -> None:
        from doctor.tui.screens.cause import CauseScreen

        if 0 <= event.index < len(self._rows):
            self.app.push_screen(CauseScreen(self.job, self.report, tuple(self._rows), event.index))

    # Keys

    def action_rerun(self) -> None:
        self._begin()

    def action_rerun_one(self) -> None:
        row = self.current
        if self._watch is not None or row is None or not row.rule:
            self.say("not_yet")
            return
        self._begin(row.rule)

    def action_fold(self) -> None:
        row = self.current
        if row is not None and row.is_cause and row.symptoms:
            self._shown = Shown(self._shown.skipped, self._shown.passed, self._shown.unfolded ^ {row.key})
            self._show_rows()

    def action_skipped(self) -> None:
        self._shown = Shown(not self._shown.skipped, self._shown.passed, self._shown.unfolded)
        self._refresh()

    def action_passed(self) -> None:
        self._shown = Shown(self._shown.skipped, not self._shown.passed, self._shown.unfolded)
        self._refresh()

    async def action_filter(self) -> None:
        await self.query_one(FilterBox).open()

    def on_input_changed(self) -> None:
        chosen = Filter.of(self.query_one(FilterBox).value)
        if chosen != self._filter:
            self._filter = chosen
            self._refresh()

    def on_input_submitted(self) -> None:
        self.query_one(FilterBox).close()
        self.query_one(Findings).focus()

    def action_open(self) -> None:
        self.query_one(Findings).action_choose()

    async def action_areas(self) -> None:
        """From the palette: the name of the area is typed."""
        await self.query_one(FilterBox).open("area:")

    async def action_area(self, number: int) -> None:
        """Only the rows of the area with this number; all of them where it is chosen already, and for 0."""
        names = list(by_area(self.report)) if self.report is not None else []
        wanted = f"area:{names[number - 1]}" if 0 < number <= len(names) else ""
        box = self.query_one(FilterBox)
        if wanted and box.value != wanted:
            await box.open(wanted)
            box.set_class(True, "open")
            self._filter = Filter.of(wanted)
        else:
            box.close(emptied=True)
            self._filter = Filter()
        self.query_one(Findings).focus()
        self._refresh()

    def action_back(self) -> None:
        box = self.query_one(FilterBox)
        if box.is_open:
            box.close(emptied=True)
            self.query_one(Findings).focus()
        else:
            super().action_back()

    def look_again(self, rule: str) -> None:
        """The rule's verdict may be another one now."""
        if self._watch is None and self.report is not None:
            self._begin(rule)

    def action_detail_down(self) -> None:
        self.query_one(TextView).scroll_page_down(animate=False)

    def action_detail_up(self) -> None:
        self.query_one(TextView).scroll_page_up(animate=False)

    def action_copy(self) -> None:
        row = self.current
        self.doctor.copy(Detail(self.report, self.language, 100).of(row).plain if row is not None else "")

    def plain_text(self) -> str:
        """The whole report, as `doctor check` prints it."""
        return whole_report(self.report, self.language) if self.report is not None else ""


__all__ = ["CheckupScreen"]
