"""One cause fixed: the plan, the exact difference of the step under the cursor, applying, what came of it, and going back.

Contract: nothing is changed before the user has typed that he wants it; planning, applying and undoing run behind the screen; while the machine
is being changed neither the screen nor the app can be left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual.content import Content
from textual.message import Message

from doctor.text import clean_line
from doctor.tui.background import behind
from doctor.tui.fixjob import Making, Place
from doctor.tui.fixview import fix_speaker, outcome, progress, steps_of
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.plans import APPLY_KEY, PlanScreen
from doctor.tui.told import Told
from doctor.tui.widgets.confirmbox import YES, ConfirmBox


class FixScreen(PlanScreen):
    """The fix of one rule's finding at a place."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key(f"{APPLY_KEY},A", "apply", "key_apply", line=True),
        Key("space", "step", "key_step", line=True),
        Key("U", "undo", "key_undo", line=True),
        Key("escape,left", "back", "key_back", line=True),
        Key("d", "pane", "key_pane", line=True),
        Key("o", "way", "key_way", line=True),
        Key("i", "inputs", "key_inputs", line=True),
        Key("y", "copy", "key_copy_commands", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
        Key("pagedown", "plan_down", "key_plan_down", priority=True),
        Key("pageup", "plan_up", "key_plan_up", priority=True),
    )
    BINDINGS = bindings(KEYS)

    class Over(Message):
        """An apply or an undo is over."""

        def __init__(self, making: Making) -> None:
            super().__init__()
            self.making = making

    def __init__(self, place: Place | Told, rule: str, fixed: Callable[[str], None] = lambda rule: None) -> None:
        super().__init__(place, rule)
        self._fixed = fixed
        self._making: Making | None = None
        self._made = ""
        """The transaction that can be undone from here."""
        self._changing = False
        self._undoing = False

    def _detail(self, width: int) -> Content:
        if self._showing == "progress" and self._making is not None:
            say = fix_speaker(self.language)
            if not self._making.events and not self._undoing and not self._making.over.is_set():
                return Content(say("fix_before"))
            return progress(self._making, say, width)
        return super()._detail(width)

    def _state(self) -> str:
        say, seconds = fix_speaker(self.language), time.monotonic() - self._since
        if self.busy:
            return say("fix_undoing" if self._undoing else "fix_applying", seconds=seconds)
        if self._making is not None and self._showing == "progress":
            return outcome(self._making, say)
        return say("fix_made") if self._applied else super()._state()

    def _tick(self) -> None:
        self._head()
        if self._showing == "progress":
            self._panes()

    def plain_text(self) -> str:
        view = self._view
        lines = [line.plain for line in map(view.step_line, range(1, 1000), steps_of(view.planned))]
        told = [self._state(), "", *lines, "", view.about(self._pair, 100).plain, "", view.commands()]
        return "\n".join([self._rule, *told, *([progress(self._making, fix_speaker(self.language), 100).plain] if self._making else [])]) + "\n"

    # Changing

    @property
    def busy(self) -> bool:
        return self._changing

    @property
    def stays(self) -> str:
        return "fix_busy" if self._changing else ""

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
        self.items.focus()
        planned, place = self._planned, self._given_place
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

    def action_pane(self) -> None:
        if self._making is not None:
            self._showing = "diff" if self._showing == "progress" else "progress"
            self._panes()


__all__ = ["FixScreen"]
