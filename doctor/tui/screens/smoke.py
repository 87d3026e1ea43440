"""The smoke test: its plan, then each step as it runs, its output, what it measured, and the diagnosis of a failure.

Contract: nothing is started before the user has typed that he wants it; planning and running happen behind the screen; leaving it stops the run
at once with all its children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from doctor.finding import Evidence
from doctor.report.style import short
from doctor.text import clean, clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.smokejob import LOADS, Bench, Running, output_of
from doctor.tui.smokeview import SmokeView
from doctor.tui.widgets.confirmbox import YES, ConfirmBox
from doctor.tui.widgets.keybar import KeyBar
from doctor.tui.widgets.textview import TextView

if TYPE_CHECKING:
    from doctor.smoke.plan import Plan, Refusal

TAIL = 300
"""Lines of output that stand beside the steps; the whole opens with enter."""


class SmokeScreen(DoctorScreen):
    """The smoke test of one machine."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("ctrl+a,A", "start", "key_smoke_start", line=True),
        Key("X", "stop", "key_smoke_stop", line=True),
        Key("l", "output", "key_smoke_output", line=True),
        Key("escape,left", "back", "key_back", line=True),
        Key("1,2,3", "levels", "key_smoke_level", line=True),
        Key("o", "load", "key_smoke_load", line=True),
        Key("enter", "whole", "key_smoke_whole"),
        Key("e", "explain", "key_explain"),
        Key("r", "again", "key_smoke_again", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    # The list itself answers enter.
    BINDINGS = [*bindings(key for key in KEYS if key.action not in ("whole", "levels")), *(Binding(str(level), f"level({level})", show=False) for level in (1, 2, 3))]
    AUTO_FOCUS = "#smokesteps"

    class Planned(Message):
        """A plan, and which of those that were asked for."""

        def __init__(self, number: int, planned: Plan | Refusal | None, problem: str = "") -> None:
            super().__init__()
            self.number, self.planned, self.problem = number, planned, problem

    class Over(Message):
        """The run has ended, and so have its children."""

    def __init__(self, label: str, bench: Bench) -> None:
        super().__init__()
        self._label, self._bench = label, bench
        self._level, self._load = 2, 0
        self._planned: Plan | Refusal | None = None
        self._problem = ""
        self._number = 0
        """Of the plan that was asked for last: an older one that comes late is passed over."""
        self._test: Running | None = None
        self._output = False
        self._follows = True
        """Whether the cursor goes with the step that runs: until the user moves it."""
        self._painted = (-1, "", -1)
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="state")
        with Container(classes="split"):
            yield OptionList(id="smokesteps", markup=False)
            yield TextView(id="side")
        yield ConfirmBox()
        yield KeyBar(self.offered)

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(self.doctor.pace.tick, self._tick, pause=True)
        self._plan()

    def on_unmount(self) -> None:
        if self._test is not None:
            self._test.stop.set()

    @property
    def runs(self) -> bool:
        return self._test is not None and not self._test.over.is_set()

    # The plan

    def _plan(self) -> None:
        self._number, self._planned, self._test, self._problem = self._number + 1, None, None, ""
        number, bench, level, load = self._number, self._bench, self._level, self._load

        def work() -> SmokeScreen.Planned:
            try:
                return self.Planned(number, bench.plan(level, load))
            except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
                return self.Planned(number, None, f"{type(problem).__name__}: {problem}")

        behind(self, work, "smoke plan")
        self._show()

    def on_smoke_screen_planned(self, event: Planned) -> None:
        if event.number == self._number:
            self._planned, self._problem = event.planned, event.problem
            self._show()

    # The run

    def action_start(self) -> None:
        plan = self._view.plan
        if self.runs:
            self.say("smoke_runs")
        elif self._test is not None or plan is None or not plan.running:
            self.say("smoke_plan_first")
        else:
            where = self.speak("smoke_on_cards", cards=",".join(map(str, plan.cards))) if plan.device == "npu" else self.speak("smoke_on_cpu")
            self.query_one(ConfirmBox).ask("start", self.speak("smoke_confirm", where=where, deadline=plan.deadline / 60))

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        self.query_one("#smokesteps").focus()
        plan = self._view.plan
        if event.text.lower() not in YES:
            self.say("smoke_not_confirmed")
        elif plan is not None and self._test is None:
            self._start(plan)

    def _start(self, plan: Plan) -> None:
        running = self._test = Running(plan)
        self.doctor.endings.append(running.over)
        self._follows, self._output = True, False
        host = self._bench.host

        def work() -> SmokeScreen.Over:
            running.go(host)
            return self.Over()

        behind(self, work, "smoke")
        if self._timer is not None:
            self._timer.resume()
        self._show()

    def on_smoke_screen_over(self) -> None:
        if self._timer is not None:
            self._timer.pause()
        self._follow()
        self._show()

    def _tick(self) -> None:
        """The clock goes on in two lines; everything else is painted where something was told."""
        self._follow()
        self._head()
        self._list()
        self._side()

    def _follow(self) -> None:
        """The cursor on the step that runs; at the end on the first that failed."""
        from doctor.smoke.outcome import State

        running = self._test
        if running is None or not self._follows:
            return
        failed = [name for name, result in list(running.results.items()) if result.state is State.FAILED]
        wanted = failed[0] if failed else running.now
        ids = [step.id for step in running.plan.steps]
        if wanted in ids:
            self.query_one("#smokesteps", OptionList).highlighted = ids.index(wanted)

    # What is seen

    @property
    def _view(self) -> SmokeView:
        return SmokeView(self._planned, self._test, self.language, self.doctor.glyphs)

    @property
    def _step(self) -> str:
        steps, at = (self._view.plan.steps if self._view.plan else ()), self.query_one("#smokesteps", OptionList).highlighted
        return steps[at].id if at is not None and at < len(steps) else ""

    def retell(self) -> None:
        super().retell()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        self._painted = (-1, "", -1)
        self._head()
        self._list()
        self._side()

    def _head(self) -> None:
        plan = self._view.plan
        parts = [self.speak("smoke_title"), short(self._label, 40), self.speak("smoke_level", level=self._level)]
        parts += [plan.device + (" " + ",".join(map(str, plan.cards)) if plan.device == "npu" else "")] if plan is not None else []
        parts += [self.speak("smoke_load_of", count=self._load)] if self._load else []
        self.query_one("#title", Static).update(Content(truncate("  ".join(map(clean_line, parts)), self.size.width - 2, "...")), layout=False)
        told = self.speak("smoke_broke", why=self._problem) if self._problem else self._view.state(self.size.width)
        self.query_one("#state", Static).update(Content(clean(told)))

    def _list(self) -> None:
        steps = self.query_one("#smokesteps", OptionList)
        rows = self._view.rows(max(20, self.size.width - 4))
        if len(rows) == steps.option_count:
            for index, row in enumerate(rows):
                if steps.get_option_at_index(index).prompt != row:
                    steps.replace_option_prompt_at_index(index, row)
        else:
            at = steps.highlighted or 0
            steps.clear_options()
            steps.add_options([Option(row) for row in rows])
            steps.highlighted = min(at, len(rows) - 1) if rows else None

    def _side(self) -> None:
        side = self.query_one(TextView)
        now = (self._test.news if self._test is not None else 0, self._step, side.room)
        if now == self._painted:
            return
        same, bottom, before = now[1] == self._painted[1], side.scroll_offset.y >= side.max_scroll_y, side.scroll_offset.y
        self._painted = now
        side.show(self._told(side.room))
        if self._output and (bottom or not same):
            side.scroll_end(animate=False)
        elif same:
            side.scroll_to(y=before, animate=False)

    def _told(self, width: int) -> Content:
        if not self._output:
            return self._view.detail(self._step, width)
        text = output_of(self._test, self._step) if self._test is not None else ""
        lines = clean(text).expandtabs(8).rstrip("\n").split("\n")[-TAIL:]
        return Content("\n".join(lines) if text.strip() else self.speak("smoke_no_output"))

    def plain_text(self) -> str:
        return self._view.plain()

    # Keys

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        running = self._test
        if running is not None and self.runs and running.plan.steps[event.option_index].id != running.now:
            self._follows = False
        self._side()

    def on_option_list_option_selected(self) -> None:
        self.action_whole()

    def action_whole(self) -> None:
        """All that the step has printed, to be searched."""
        from doctor.tui.job import TextJob
        from doctor.tui.screens.evidence import EvidenceScreen

        text = output_of(self._test, self._step) if self._test is not None else ""
        if not text.strip():
            self.say("smoke_no_output")
            return
        name, lines = f"smoke/{self._step}", text.rstrip("\n").split("\n")
        self.app.push_screen(EvidenceScreen(TextJob(name, text=text), Evidence(name, lines[-1], len(lines))))

    def action_explain(self) -> None:
        result = self._test.results.get(self._step) if self._test is not None else None
        causes = result.diagnosis.causes if result is not None and result.diagnosis is not None else ()
        if causes:
            self.doctor.explain(causes[0].finding.rule)
        else:
            self.say("watch_no_cause")

    def action_output(self) -> None:
        self._output = not self._output
        self._painted = (-1, "", -1)
        self._side()

    def action_level(self, level: int) -> None:
        self._choose(level, self._load)

    def action_load(self) -> None:
        self._choose(self._level, LOADS[(LOADS.index(self._load) + 1) % len(LOADS)])

    def _choose(self, level: int, load: int) -> None:
        if self.runs:
            self.say("smoke_runs")
        else:
            self._level, self._load = level, load
            self._plan()

    def action_again(self) -> None:
        self._choose(self._level, self._load)

    def action_stop(self) -> None:
        if self._test is not None and self.runs:
            self._test.stop.set()
            self._head()
        else:
            self.say("smoke_not_running")

    def action_copy(self) -> None:
        self.doctor.copy(self._told(100).plain)

    def action_back(self) -> None:
        box = self.query_one(ConfirmBox)
        if box.is_open:
            box.close()
            self.query_one("#smokesteps").focus()
        else:
            super().action_back()

    def action_detail_down(self) -> None:
        self.query_one(TextView).scroll_page_down(animate=False)

    def action_detail_up(self) -> None:
        self.query_one(TextView).scroll_page_up(animate=False)


__all__ = ["SmokeScreen"]
