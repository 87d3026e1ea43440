"""The plan of a smoke test: what was asked for by keys and inputs, planned behind the screen on what is there. Nothing is started here."""

from __future__ import annotations

from collections.abc import Mapping

from textual.message import Message

from doctor.tui.background import behind
from doctor.tui.screens.paned import SplitScreen
from doctor.tui.smokejob import NOTHING_ASKED, Bench, Looked, Running, next_load
from doctor.tui.smokeview import SmokeView, smoke_speaker


class SmokePlanScreen(SplitScreen):
    """The plan for one machine, until it runs; whoever runs it paints."""

    class Planned(Message):
        """A plan, and which of those that were asked for."""

        def __init__(self, number: int, looked: Looked | None, problem: str = "") -> None:
            super().__init__()
            self.number, self.looked, self.problem = number, looked, problem

    def __init__(self, label: str, bench: Bench) -> None:
        super().__init__()
        self._label, self._bench = label, bench
        self._asked: dict[str, str] = dict(NOTHING_ASKED)
        self._looked: Looked | None = None
        self._problem = ""
        self._number = 0
        """Of the plan that was asked for last: an older one that comes late is passed over."""
        self._test: Running | None = None

    def _show(self) -> None:
        raise NotImplementedError

    @property
    def _view(self) -> SmokeView:
        return SmokeView(self._looked.plan if self._looked is not None else None, self._test, self.language, self.doctor.glyphs)

    @property
    def runs(self) -> bool:
        return self._test is not None and not self._test.over.is_set()

    # The plan

    def _plan(self) -> None:
        self._number, self._looked, self._test, self._problem = self._number + 1, None, None, ""
        number, bench, asked = self._number, self._bench, dict(self._asked)

        def work() -> SmokePlanScreen.Planned:
            try:
                return self.Planned(number, bench.plan(asked))
            except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
                return self.Planned(number, None, f"{type(problem).__name__}: {problem}")

        behind(self, work, "smoke plan")
        self._show()

    def on_smoke_plan_screen_planned(self, event: Planned) -> None:
        if event.number == self._number:
            self._looked, self._problem = event.looked, event.problem
            self._show()

    # Keys

    def action_level(self, level: int) -> None:
        self._choose({"level": str(level)})

    def action_levels(self) -> None:
        """From the palette: the next one."""
        self.action_level(int(self._asked["level"]) % 3 + 1)

    def action_load(self) -> None:
        self._choose({"load": next_load(self._asked["load"])})

    def action_inputs(self) -> None:
        from doctor.tui.screens.inputs import InputsScreen
        from doctor.tui.smokeinputs import FIELDS, cards_here

        if self.runs:
            self.say("smoke_runs")
            return
        looked = self._looked or Looked()
        known = {"cards": cards_here(looked.seen), "server": looked.server or "-"}
        self.app.push_screen(InputsScreen("inputs_smoke", FIELDS, self._asked, smoke_speaker, self._choose, known))

    def _choose(self, asked: Mapping[str, str]) -> None:
        if self.runs:
            self.say("smoke_runs")
        else:
            self._asked.update(asked)
            self._plan()

    def action_again(self) -> None:
        self._choose({})


__all__ = ["SmokePlanScreen"]
