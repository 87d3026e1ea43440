"""The smoke test: its plan, then each step as it runs, its output, what it measured, and the diagnosis of a failure.

Contract: nothing is started before the user has typed that he wants it; planning and running happen behind the screen; leaving it stops the run
at once with all its children.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList, Static

from doctor.finding import Evidence
from doctor.text import clean
from doctor.tui.background import behind
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.smokeplan import SmokePlanScreen
from doctor.tui.smokejob import Bench, Running, output_of, written
from doctor.tui.widgets.confirmbox import YES, ConfirmBox
from doctor.tui.widgets.textview import TextView

if TYPE_CHECKING:
    from doctor.smoke.plan import Plan

TAIL = 300
"""Lines of output that stand beside the steps; the whole opens with enter."""


class SmokeScreen(SmokePlanScreen):
    """The smoke test of one machine."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("ctrl+a,A", "start", "key_smoke_start", line=True),
        Key("X", "stop", "key_smoke_stop", line=True),
        Key("l", "output", "key_smoke_output", line=True),
        Key("escape,left", "back", "key_back", line=True),
        Key("i", "inputs", "key_inputs", line=True),
        Key("1,2,3", "levels", "key_smoke_level", line=True),
        Key("o", "load", "key_smoke_load", line=True),
        Key("enter", "whole", "key_smoke_whole"),
        Key("e", "explain", "key_explain"),
        Key("W,ctrl+w", "report", "key_smoke_report"),
        Key("r", "again", "key_smoke_again", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    # The list itself answers enter.
    BINDINGS = [*bindings(key for key in KEYS if key.action not in ("whole", "levels")), *(Binding(str(level), f"level({level})", show=False) for level in (1, 2, 3))]

    class Written(Message):
        """A report lies in a file, or why it does not."""

        def __init__(self, path: str, problem: str) -> None:
            super().__init__()
            self.path, self.problem = path, problem

    class Over(Message):
        """The run has ended, and so have its children."""

    def __init__(self, label: str, bench: Bench) -> None:
        super().__init__(label, bench)
        self._output = False
        self._follows = True
        """Whether the cursor goes with the step that runs: until the user moves it."""
        self._painted = (-1, "", -1)
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(self.doctor.pace.tick, self._tick, pause=True)
        self._plan()

    def on_unmount(self) -> None:
        if self._test is not None:
            self._test.stop.set()

    # The run

    def action_start(self) -> None:
        plan = self._view.plan
        if self.runs:
            self.say("smoke_runs")
        elif self._test is not None or plan is None or not plan.running:
            self.say("smoke_plan_first")
        else:
            where = self.speak("smoke_on_cards", cards=",".join(map(str, plan.cards))) if plan.device == "npu" else self.speak("smoke_on_cpu")
            question = self.speak("smoke_confirm", where=where, deadline=plan.deadline / 60)
            self.query_one(ConfirmBox).ask("start", " ".join([*self._view.loads(), question]))

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        self.items.focus()
        plan = self._view.plan
        if event.purpose == "report":
            self._write(event.text)
        elif event.text.lower() not in YES:
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
            self.items.highlighted = ids.index(wanted)

    # What is seen

    @property
    def _step(self) -> str:
        steps, at = (self._view.plan.steps if self._view.plan else ()), self.items.highlighted
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
        self.query_one("#title", Static).update(Content(self._view.title(self._label, self._asked, self.size.width - 2)), layout=False)
        told = self.speak("smoke_broke", why=self._problem) if self._problem else self._view.state(self.size.width)
        self.query_one("#state", Static).update(Content(clean(told)))

    def _list(self) -> None:
        self.refill(self._view.rows(max(20, self.size.width - 4)))

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

    def action_report(self) -> None:
        """What a first user with an NPU can send back, into a new file."""
        if self._test is None or self._test.outcome is None:
            self.say("smoke_no_report")
        else:
            name = f"doctor-smoke-{datetime.now().strftime('%Y%m%d-%H%M%S')}.txt"
            self.query_one(ConfirmBox).ask("report", self.speak("smoke_report_where"), name)

    def _write(self, name: str) -> None:
        outcome, seen = self._test.outcome if self._test is not None else None, self._looked.seen if self._looked is not None else None
        if outcome is None or seen is None or not name:
            self.say("smoke_no_report")
            return
        path, bench, language = self.doctor.folder / os.path.expanduser(name), self._bench, self.language

        def work() -> SmokeScreen.Written:
            try:
                return self.Written(os.path.abspath(path), written(bench.report(outcome, seen, language), path))
            except Exception as problem:  # noqa: BLE001  what cannot be masked, or a bug of ours, is told; nothing is written then
                return self.Written("", f"{type(problem).__name__}: {problem}")

        behind(self, work, "smoke report")

    def on_smoke_screen_written(self, event: Written) -> None:
        self.say("not_saved", why=event.problem) if event.problem else self.say("saved", path=event.path)

    def action_stop(self) -> None:
        if self._test is not None and self.runs:
            self._test.stop.set()
            self._head()
        else:
            self.say("smoke_not_running")

    def action_copy(self) -> None:
        self.doctor.copy(self._told(100).plain)


__all__ = ["SmokeScreen"]
