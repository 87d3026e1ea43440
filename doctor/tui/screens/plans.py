"""The plan of a fix: its steps left, the exact difference of the one under the cursor right; steps switched off, other fixes, inputs.

Contract: plans are made behind the screen, on a fresh look where one is needed; nothing is changed here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList, Static

from doctor.report.style import short
from doctor.text import clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.fixinputs import NOTHING_GIVEN, choices_of, fields_of
from doctor.tui.fixjob import Place, Planned, planned
from doctor.tui.fixview import Pair, PlanView, fix_speaker, sentence, steps_of
from doctor.tui.screens.paned import AskingScreen
from doctor.tui.told import Told
from doctor.tui.widgets.confirmbox import ConfirmBox
from doctor.tui.widgets.keybar import KeyBar

APPLY_KEY = "ctrl+a"


class PlanScreen(AskingScreen):
    """The plan of one rule's fix at a place."""

    AUTO_FOCUS = "#steps"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]

    class Ready(Message):
        """A plan, and whether it is still the one that was asked for."""

        def __init__(self, number: int, planned: Planned) -> None:
            super().__init__()
            self.number, self.planned = number, planned

    def __init__(self, place: Place | Told, rule: str) -> None:
        super().__init__()
        self._place, self._rule = place, rule
        self._given: dict[str, str] = dict(NOTHING_GIVEN)
        self._planned: Planned | None = None
        self._off: frozenset[tuple[str, str]] = frozenset()
        self._way = ""
        self._number = 0
        """Of the plan that was asked for last: an older one that comes late is passed over."""
        self._ready = 0
        """Of the plan that is shown."""
        self._since = 0.0
        self._at: int | None = None
        """The step whose difference is shown."""
        self._applied = False
        self._showing = "diff"
        """What stands on the right: the difference, or the progress of a change."""
        self._timer: Timer | None = None

    # What is on the screen

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="state")
        with Container(id="fix"):
            with VerticalScroll(id="plan", can_focus=False):
                yield OptionList(id="steps", markup=False)
                yield Static(id="about")
            with VerticalScroll(id="pane", can_focus=False):
                yield Static(id="panetext")
        yield ConfirmBox()
        yield KeyBar(self.offered)

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(self.doctor.pace.tick, self._tick, pause=True)
        if isinstance(self._place, Told):
            self._planned = Planned(hindrance=self._place)
            self._show()
        else:
            self._plan(fresh=True)

    @property
    def _given_place(self) -> Place | Told:
        """The place, with what was typed."""
        return self._place.given(choices_of(self._given)) if isinstance(self._place, Place) else self._place

    def _plan(self, *, fresh: bool) -> None:
        """Makes the plan behind the screen; a fresh one looks at the machine anew."""
        place, way, off, rule = self._given_place, self._way, self._off, self._rule
        looked = self._planned.looked if self._planned is not None and not fresh else None
        if isinstance(place, Told):
            return
        self._number, self._since = self._number + 1, time.monotonic()
        number, self._planned = self._number, None if fresh else self._planned

        def work() -> PlanScreen.Ready:
            try:
                return self.Ready(number, planned(place, rule, way, off, looked))
            except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
                return self.Ready(number, Planned(hindrance=Told("fix_failed", {"why": clean_line(f"{type(problem).__name__}: {problem}")[:300]})))

        behind(self, work, "plan")
        if self._timer is not None:
            self._timer.resume()
        self._head()

    def on_plan_screen_ready(self, event: Ready) -> None:
        if event.number != self._number:
            return
        self._planned, self._ready = event.planned, event.number
        if not self.busy and self._timer is not None:
            self._timer.pause()
        self._show()

    def retell(self) -> None:
        super().retell()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    @property
    def _view(self) -> PlanView:
        return PlanView(self._planned or Planned(), self._off, self.language)

    @property
    def _pair(self) -> Pair | None:
        pairs, at = steps_of(self._planned or Planned()), self.items.highlighted
        return pairs[at] if at is not None and at < len(pairs) else pairs[0] if pairs else None

    def _show(self) -> None:
        """Paints everything again; the cursor stays on its step, and the last plan while another is made."""
        if self._planned is not None:
            self._list()
        self._panes()

    def _list(self) -> None:
        steps, view = self.items, self._view
        lines = [view.step_line(number, pair) for number, pair in enumerate(steps_of(view.planned), 1)]
        self.refill(lines)
        self._at = steps.highlighted
        steps.display = bool(lines)

    def _panes(self) -> None:
        self._head()
        plan = self.query_one("#plan", VerticalScroll)
        about = self._view.about(self._pair, (plan.content_size.width or self.size.width) - 2) if self._planned is not None else Content("")
        self.query_one("#about", Static).update(about)
        side = self.query_one("#pane", VerticalScroll)
        self.query_one("#panetext", Static).update(self._detail((side.content_size.width or self.size.width) - 1))

    def _head(self) -> None:
        say, planned = fix_speaker(self.language), self._planned
        fixes = planned.whole.fixes if planned is not None and planned.whole is not None else ()
        parts = [say("fix_title"), self._rule, *(f"{fix.fix} ({say(fix.safety.value)})" for fix in fixes[:1]), *([f"+{len(fixes) - 1}"] if len(fixes) > 1 else [])]
        if planned is not None and planned.whole is not None:
            parts.append(short(planned.whole.machine if planned.whole.root == "/" else planned.whole.root, 60))
        self.query_one("#title", Static).update(Content(truncate("  ".join(map(clean_line, parts)), self.size.width - 2, "...")))
        self.query_one("#state", Static).update(Content(clean_line(self._state())))

    def _detail(self, width: int) -> Content:
        return self._view.difference(self._pair, width)

    def _state(self) -> str:
        """How far the plan is."""
        say, planned = fix_speaker(self.language), self._planned
        if planned is None:
            return say("fix_looking", seconds=time.monotonic() - self._since)
        if planned.done:
            return say("all_already")
        if planned.plan is not None and self._off and not planned.plan.steps:
            return say("fix_nothing_on")
        if not planned.ready or planned.plan is None:
            told = sentence(planned.hindrance, say) if planned.hindrance is not None else say("not_applicable")
            return f"{told} {say('fix_inputs')}" if planned.lacking and fields_of(planned.whole) else told
        return say("fix_ready", press=APPLY_KEY, on=len(planned.plan.steps), all=len(steps_of(planned)))

    def _tick(self) -> None:
        self._head()

    def on_option_list_option_highlighted(self) -> None:
        at = self.items.highlighted
        if self.busy or at == self._at:
            return  # the list was filled; the cursor was not moved
        self._at, self._showing = at, "diff"
        self.query_one("#pane", VerticalScroll).scroll_home(animate=False)
        self._panes()

    def on_option_list_option_selected(self) -> None:
        self.action_step()

    # Keys

    def action_step(self) -> None:
        pair, planned = self._pair, self._planned
        if self.busy or self._applied or pair is None or planned is None:
            return
        self._off = self._off ^ {(pair[0].rule, pair[1].key)}
        self._showing = "diff"
        self._plan(fresh=False)

    def action_way(self) -> None:
        planned = self._planned
        if self.busy or planned is None or not planned.ways:
            return
        now = self._way or (planned.whole.fixes[0].fix if planned.whole is not None and planned.whole.fixes else "")
        at = planned.ways.index(now) if now in planned.ways else -1
        self._way, self._off, self._applied, self._showing = planned.ways[(at + 1) % len(planned.ways)], frozenset(), False, "diff"
        self._plan(fresh=False)

    def action_inputs(self) -> None:
        """What this plan's steps can be given; a plan that takes nothing says so."""
        fields = fields_of(self._planned.whole if self._planned is not None else None)
        if self.busy or self._applied:
            self.say("fix_busy" if self.busy else "fix_made")
        elif not fields:
            self.say("fix_no_inputs")
        else:
            from doctor.tui.screens.inputs import InputsScreen

            self.app.push_screen(InputsScreen("inputs_fix", fields, self._given, fix_speaker, self._take))

    def _take(self, given: Mapping[str, str]) -> None:
        self._given.update(given)
        self._showing = "diff"
        self._plan(fresh=False)

    def action_copy(self) -> None:
        self.doctor.copy(self._view.commands())

    def action_detail_down(self) -> None:
        self.query_one("#pane", VerticalScroll).scroll_page_down(animate=False)

    def action_detail_up(self) -> None:
        self.query_one("#pane", VerticalScroll).scroll_page_up(animate=False)

    def action_plan_down(self) -> None:
        self.query_one("#plan", VerticalScroll).scroll_page_down(animate=False)

    def action_plan_up(self) -> None:
        self.query_one("#plan", VerticalScroll).scroll_page_up(animate=False)


__all__ = ["APPLY_KEY", "PlanScreen"]
