"""One cause fixed: the plan, the exact difference of the step under the cursor, applying, what came of it, and going back.

Contract: nothing is changed before the user has typed that he wants it; planning, applying and undoing run behind the screen; while the machine
is being changed neither the screen nor the app can be left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from doctor.report.style import short
from doctor.text import clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.fixjob import Making, Place, Planned, Told, planned
from doctor.tui.fixview import Pair, PlanView, fix_speaker, outcome, progress, sentence, steps_of
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.paned import PanedScreen
from doctor.tui.widgets.confirmbox import YES, ConfirmBox
from doctor.tui.widgets.keybar import KeyBar

APPLY_KEY = "ctrl+a"


class FixScreen(PanedScreen):
    """The fix of one rule's finding at a place."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key(f"{APPLY_KEY},A", "apply", "key_apply", line=True),
        Key("space", "step", "key_step", line=True),
        Key("U", "undo", "key_undo", line=True),
        Key("escape,left", "back", "key_back", line=True),
        Key("d", "pane", "key_pane", line=True),
        Key("o", "way", "key_way", line=True),
        Key("y", "copy", "key_copy_commands", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
        Key("pagedown", "plan_down", "key_plan_down", priority=True),
        Key("pageup", "plan_up", "key_plan_up", priority=True),
    )
    BINDINGS = bindings(KEYS)
    AUTO_FOCUS = "#steps"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]

    class Ready(Message):
        """A plan, and whether it is still the one that was asked for."""

        def __init__(self, number: int, planned: Planned) -> None:
            super().__init__()
            self.number, self.planned = number, planned

    class Over(Message):
        """An apply or an undo is over."""

        def __init__(self, making: Making) -> None:
            super().__init__()
            self.making = making

    def __init__(self, place: Place | Told, rule: str, fixed: Callable[[str], None] = lambda rule: None) -> None:
        super().__init__()
        self._place, self._rule, self._fixed = place, rule, fixed
        self._planned: Planned | None = None
        self._off: frozenset[tuple[str, str]] = frozenset()
        self._way = ""
        self._number = 0
        """Of the plan that was asked for last: an older one that comes late is passed over."""
        self._ready = 0
        """Of the plan that is shown."""
        self._since = 0.0
        self._making: Making | None = None
        self._made = ""
        """The transaction that can be undone from here."""
        self._applied = False
        self._changing = False
        self._undoing = False
        self._showing = "diff"
        self._at: int | None = None
        """The step whose difference is shown."""
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
        yield KeyBar(self.KEYS)

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(self.doctor.pace.tick, self._tick, pause=True)
        if isinstance(self._place, Told):
            self._planned = Planned(hindrance=self._place)
            self._show()
        else:
            self._plan(fresh=True)

    def _plan(self, *, fresh: bool) -> None:
        """Makes the plan behind the screen; a fresh one looks at the machine anew."""
        place, way, off, rule = self._place, self._way, self._off, self._rule
        looked = self._planned.looked if self._planned is not None and not fresh else None
        if isinstance(place, Told):
            return
        self._number, self._since = self._number + 1, time.monotonic()
        number, self._planned = self._number, None if fresh else self._planned

        def work() -> FixScreen.Ready:
            try:
                return self.Ready(number, planned(place, rule, way, off, looked))
            except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
                return self.Ready(number, Planned(hindrance=Told("fix_failed", {"why": clean_line(f"{type(problem).__name__}: {problem}")[:300]})))

        behind(self, work, "plan")
        if self._timer is not None:
            self._timer.resume()
        self._head()

    def on_fix_screen_ready(self, event: Ready) -> None:
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
        pairs, at = steps_of(self._planned or Planned()), self.query_one("#steps", OptionList).highlighted
        return pairs[at] if at is not None and at < len(pairs) else pairs[0] if pairs else None

    def _show(self) -> None:
        """Paints everything again; the cursor stays on its step, and the last plan while another is made."""
        if self._planned is not None:
            self._list()
        self._panes()

    def _list(self) -> None:
        steps, view = self.query_one("#steps", OptionList), self._view
        at = steps.highlighted or 0
        lines = [view.step_line(number, pair) for number, pair in enumerate(steps_of(view.planned), 1)]
        if len(lines) == steps.option_count:
            for index, line in enumerate(lines):
                steps.replace_option_prompt_at_index(index, line)
        else:
            steps.clear_options()
            steps.add_options([Option(line) for line in lines])
            steps.highlighted = min(at, len(lines) - 1) if lines else None
        self._at = steps.highlighted
        steps.display = bool(lines)

    def _panes(self) -> None:
        self._head()
        plan = self.query_one("#plan", VerticalScroll)
        about = self._view.about(self._pair, (plan.content_size.width or self.size.width) - 2) if self._planned is not None else Content("")
        self.query_one("#about", Static).update(about)
        side = self.query_one("#pane", VerticalScroll)
        self.query_one("#panetext", Static).update(self._detail((side.content_size.width or self.size.width) - 1))

    def _detail(self, width: int) -> Content:
        if self._showing == "progress" and self._making is not None:
            say = fix_speaker(self.language)
            if not self._making.events and not self._undoing and not self._making.over.is_set():
                return Content(say("fix_before"))
            return progress(self._making, say, width)
        return self._view.difference(self._pair, width)

    def _head(self) -> None:
        say, planned = fix_speaker(self.language), self._planned
        fixes = planned.whole.fixes if planned is not None and planned.whole is not None else ()
        parts = [say("fix_title"), self._rule, *(f"{fix.fix} ({say(fix.safety.value)})" for fix in fixes[:1]), *([f"+{len(fixes) - 1}"] if len(fixes) > 1 else [])]
        if planned is not None and planned.whole is not None:
            parts.append(short(planned.whole.machine if planned.whole.root == "/" else planned.whole.root, 60))
        self.query_one("#title", Static).update(Content(truncate("  ".join(map(clean_line, parts)), self.size.width - 2, "...")))
        self.query_one("#state", Static).update(Content(clean_line(self._state())))

    def _state(self) -> str:
        say, planned, seconds = fix_speaker(self.language), self._planned, time.monotonic() - self._since
        if self.busy:
            return say("fix_undoing" if self._undoing else "fix_applying", seconds=seconds)
        if self._making is not None and self._showing == "progress":
            return outcome(self._making, say)
        if planned is None:
            return say("fix_looking", seconds=seconds)
        if self._applied:
            return say("fix_made")
        if planned.done:
            return say("all_already")
        if planned.plan is not None and self._off and not planned.plan.steps:
            return say("fix_nothing_on")
        if planned.hindrance is not None:
            return sentence(planned.hindrance, say)
        if planned.plan is None or not planned.ready:
            return say("not_applicable")
        return say("fix_ready", press=APPLY_KEY, on=len(planned.plan.steps), all=len(steps_of(planned)))

    def _tick(self) -> None:
        self._head()
        if self._showing == "progress":
            self._panes()

    def on_option_list_option_highlighted(self) -> None:
        at = self.query_one("#steps", OptionList).highlighted
        if self.busy or at == self._at:
            return  # the list was filled; the cursor was not moved
        self._at, self._showing = at, "diff"
        self.query_one("#pane", VerticalScroll).scroll_home(animate=False)
        self._panes()

    def on_option_list_option_selected(self) -> None:
        self.action_step()

    def plain_text(self) -> str:
        view = self._view
        lines = [line.plain for line in map(view.step_line, range(1, 1000), steps_of(view.planned))]
        told = [self._state(), "", *lines, "", view.about(self._pair, 100).plain, "", view.commands()]
        return "\n".join([self._rule, *told, *([progress(self._making, fix_speaker(self.language), 100).plain] if self._making else [])]) + "\n"

    # Changing

    @property
    def busy(self) -> bool:
        return self._changing

    def action_apply(self) -> None:
        planned = self._planned
        if self.busy or planned is None or self._number != self._ready:
            self.say("fix_busy" if self.busy else "not_yet")
        elif self._applied:
            self.say("fix_made")
        elif not planned.ready:
            self.notify(clean_line(self._state()), markup=False, timeout=4)
        else:
            question = self.speak("fix_confirm_typed", rule=planned.typed[0]) if planned.typed else self.speak("fix_confirm_safe")
            self.query_one(ConfirmBox).ask("apply", question)

    def action_undo(self) -> None:
        if self.busy or not self._made:
            self.say("fix_busy" if self.busy else "fix_no_undo")
        else:
            self.query_one(ConfirmBox).ask("undo", self.speak("fix_confirm_undo", transaction=self._made))

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        self.query_one("#steps").focus()
        planned, place = self._planned, self._place
        typed = planned.typed if planned is not None and event.purpose == "apply" else ()
        agreed = event.text == typed[0] if typed else event.text.lower() in YES
        if not agreed:
            self.say("fix_not_confirmed")
        elif isinstance(place, Place) and not self.busy and event.purpose == "undo":
            transaction = self._made
            self._begin(lambda making: making.undo(place, transaction), undoing=True)
        elif isinstance(place, Place) and not self.busy and planned is not None and planned.ready and planned.plan is not None:
            name, reviewed, off = f"{self._rule}/{self._way}" if self._way else self._rule, planned.plan.hash, self._off
            self._begin(lambda making: making.apply(place, (name,), reviewed, off), undoing=False)

    def _begin(self, work: Callable[[Making], None], *, undoing: bool) -> None:
        making = self._making = Making()
        self._changing = True
        self._undoing, self._showing, self._since = undoing, "progress", time.monotonic()
        self.doctor.makings.append(making)

        def run() -> FixScreen.Over:
            work(making)
            return self.Over(making)

        behind(self, run, "fix")
        if self._timer is not None:
            self._timer.resume()
        self._panes()

    def on_fix_screen_over(self, event: Over) -> None:
        making, self._changing = event.making, False
        if self._timer is not None:
            self._timer.pause()
        if making.problem is not None and making.problem.key == "refused_interrupted":
            self._made = str(making.problem.values["about"])
        elif making.undone:
            self._made = ""
        else:
            self._made = making.transaction or self._made
        self._applied = any(one.outcome.value in ("fixed", "pending", "nothing") for one in making.applied)
        if making.applied or making.undone:
            self._fixed(self._rule)
        self._panes()
        if not self._applied:
            self._plan(fresh=True)

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

    def action_pane(self) -> None:
        if self._making is not None:
            self._showing = "diff" if self._showing == "progress" else "progress"
            self._panes()

    def action_copy(self) -> None:
        self.doctor.copy(self._view.commands())

    def action_back(self) -> None:
        box = self.query_one(ConfirmBox)
        if box.is_open:
            box.close()
            self.query_one("#steps").focus()
        elif self.busy:
            self.say("fix_busy")
        else:
            super().action_back()

    def action_plan_down(self) -> None:
        self.query_one("#plan", VerticalScroll).scroll_page_down(animate=False)

    def action_plan_up(self) -> None:
        self.query_one("#plan", VerticalScroll).scroll_page_up(animate=False)


__all__ = ["FixScreen"]
