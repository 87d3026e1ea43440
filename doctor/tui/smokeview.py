"""The smoke test as styled text: a line a step, the plan, what a step measures, its load as a plot, its diagnosis. Texts from outside are cleaned.

States are words; a style is never alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from textual.content import Content

from doctor.locale import Speak, room_speaker
from doctor.record import dataclass
from doctor.report.style import Style, padded, short
from doctor.smoke.events import Check, Figure
from doctor.smoke.outcome import Outcome, Result, State
from doctor.smoke.plan import Plan, Refusal, Step
from doctor.smoke.text import LOAD_POINT, figure_text, how_text, leftovers_text, outcome_lines, plan_lines, reason_text, span, step_lines
from doctor.smoke.words import WORDS as SMOKE_WORDS
from doctor.text import cell_width, clean, clean_line, truncate
from doctor.tui.form import Values
from doctor.tui.glyphs import Glyphs
from doctor.tui.plots import LETTERS, MANY, Curve, chart, plotted
from doctor.tui.smokejob import Running
from doctor.tui.words import WORDS

STYLES = {State.PASSED: "", State.FAILED: "bold $text-error", State.SKIPPED: "dim", State.STOPPED: "bold $text-warning"}

BAR = 16
"""Cells of a progress bar."""
PLOT_ROWS = 5
LATENCY_ROWS = 8
"""Of the plot with several lines, which lie close to each other."""


def smoke_speaker(language: str) -> Speak:
    """The words of the smoke test, else those of the app."""
    return room_speaker({**WORDS, **SMOKE_WORDS}, language)


@dataclass(frozen=True)
class SmokeView:
    """Tells of a plan or a refusal, and of its run once there is one."""

    planned: Plan | Refusal | None
    running: Running | None
    language: str
    glyphs: Glyphs

    @property
    def say(self) -> Speak:
        return smoke_speaker(self.language)

    @property
    def plan(self) -> Plan | None:
        return self.running.plan if self.running is not None else self.planned if isinstance(self.planned, Plan) else None

    def title(self, label: str, asked: Values, width: int) -> str:
        """The machine, and what was asked for."""
        plan, say = self.plan, self.say
        parts = [say("smoke_title"), short(label, 40), say("smoke_level", level=asked["level"])]
        parts += [plan.device + (" " + ",".join(map(str, plan.cards)) if plan.device == "npu" else "")] if plan is not None else []
        parts += [say("smoke_load_of", count=asked["load"])] if asked.get("load", "0") != "0" else []
        parts += [short(os.path.basename(asked["model"].rstrip("/")), 30)] if asked.get("model") else []
        parts += [short(asked["url"], 40)] if asked.get("url") else []
        return truncate("  ".join(map(clean_line, parts)), width, "...")

    # One line a step

    def rows(self, width: int) -> list[Content]:
        steps = self.plan.steps if self.plan is not None else ()
        names = [self.say(f"step_{step.id}") for step in steps]
        states = [self.say(state.value) for state in State] + [self.say("smoke_wait"), self.say("smoke_run")]
        name_cells, state_cells = max(map(cell_width, names), default=0) + 2, max(map(cell_width, states)) + 2
        return [self._row(step, name, name_cells, state_cells, width) for step, name in zip(steps, names, strict=True)]

    def _row(self, step: Step, name: str, name_cells: int, state_cells: int, width: int) -> Content:
        state, style, what = self._state_of(step, width)
        rest = truncate(clean_line(what), max(0, width - name_cells - state_cells), "...")
        return Content.assemble((padded(state, state_cells), style), padded(name, name_cells), rest)

    def _state_of(self, step: Step, width: int) -> tuple[str, str, str]:
        """(word, its style, what there is to say)"""
        running, say = self.running, self.say
        result = running.results.get(step.id) if running is not None else None
        if result is not None:
            return say(result.state.value), STYLES[result.state], self._told(result)
        if running is not None and running.now == step.id:
            seconds = running.since(step.id)
            bar = self.glyphs.bar(min(0.95, seconds / (step.usual or 1.0)), BAR if width >= 70 else BAR // 2)
            return say("smoke_run"), "bold", f"{bar}  {say('smoke_of', seconds=seconds, deadline=step.deadline)}  {running.steps[step.id].stage}"
        if step.skip is not None:
            return say(State.SKIPPED.value), "dim", reason_text(step.skip.key, step.skip.values, say)
        return say("smoke_wait"), "dim", say("smoke_about", usual=span(step.usual, say), deadline=span(step.deadline, say))

    def _told(self, result: Result) -> str:
        say = self.say
        if result.ended is None:
            return reason_text(result.reason.key, result.reason.values, say) if result.reason is not None else ""
        took = say("seconds", count=result.ended.seconds)
        if result.state is State.PASSED:
            return took
        causes = result.diagnosis.causes if result.diagnosis is not None else ()
        return f"{took}  {causes[0].finding.title[self.language] if causes else how_text(result.ended, say)}"

    # The line above them

    def state(self, width: int) -> str:
        """What it is waiting for, how far it is, or what came of it."""
        say, running = self.say, self.running
        if running is None:
            if self.planned is None:
                return say("smoke_planning")
            if isinstance(self.planned, Refusal):
                return say(self.planned.key, **self.planned.values)
            if not self.planned.running:
                return say("smoke_nothing")
            return say("smoke_ready", press="ctrl+a", usual=span(self.planned.usual, say), deadline=span(self.planned.deadline, say))
        if not running.over.is_set():
            bar = self.glyphs.bar(running.share, BAR if width < 100 else 2 * BAR)
            key = "smoke_stopping" if running.stop.is_set() else "smoke_under_way"
            done = len([step for step in running.plan.running if step.id in running.results])
            return f"{bar}  " + say(key, done=done, all=len(running.plan.running), seconds=running.seconds, usual=span(running.plan.usual, say))
        if running.outcome is None:
            return say("smoke_broke", why=running.problem)
        return f"{verdict(running.outcome, say)} {say('smoke_took', seconds=running.seconds)}  {leftovers_text(running.outcome.leftovers, say)}"

    # Beside them

    def detail(self, step: str, width: int) -> Content:
        """Of the step under the cursor; the plan before a run."""
        return Content("\n").join(list(self._detail(step, width)))

    def _detail(self, step: str, width: int) -> Iterator[Content]:
        style, running = Style(width if width >= 20 else 0), self.running
        if running is None:
            if isinstance(self.planned, Plan):
                yield from _plain(style, [*plan_lines(self.planned, self.say, os.cpu_count() or 1), *("  " + text for text in self.loads())])
            return
        result = running.results.get(step)
        if result is not None:
            yield from _plain(style, step_lines(_without_points(result), self.say, Style(), self.language, 1))
            yield from self._load(result.figures, width)
        elif step in running.steps:
            progress = running.steps[step]
            yield Content.styled(f"{self.say('smoke_stage')}  {short(progress.stage or '-', 200)}", "bold")
            yield from (_check(check, self.say) for check in list(progress.checks))
            yield from (Content(clean_line(figure_text(figure, self.say))) for figure in list(progress.figures) if figure.name != LOAD_POINT)
            yield from self._load(list(progress.figures), width)
        else:
            yield Content(self.say("smoke_not_yet"))

    def loads(self) -> list[str]:
        """Which server the plan puts under load, a sentence each."""
        steps = [step for step in (self.plan.running if self.plan is not None else ()) if step.job.get("load")]
        values = [(step.job["load"], float(step.job.get("load_seconds", 0.0)), str(step.job.get("url") or step.job.get("model", ""))) for step in steps]
        return [self.say("smoke_load_plan", count=count, seconds=seconds, where=short(where, 200)) for count, seconds, where in values]

    def _load(self, figures: Sequence[Figure], width: int) -> Iterator[Content]:
        """Tokens and requests a second, and how long answers took, while the server was under load."""
        for unit in ("tokens/s", "requests/s"):
            curve = load_curve(figures, unit)
            if len(curve) > 1:
                yield from self._plot([curve], self.say("smoke_load", unit=unit), width, unit)
        latencies = {f"p{share}": load_curve(figures, f"s p{share}") for share in (50, 95, 99)}
        if len(latencies["p50"]) > 1:
            yield from self._plot(list(latencies.values()), self.say("smoke_latency"), width, "s")
            names = [f"{letter} {name}" for letter, name in zip(LETTERS, latencies, strict=False)]
            yield Content.styled("  ".join([*names, f"{MANY} {self.say('smoke_several')}"]), "dim")

    def _plot(self, curves: Sequence[Curve], title: str, width: int, unit: str) -> Iterator[Content]:
        body, low, high = plotted(curves, PLOT_ROWS if len(curves) == 1 else LATENCY_ROWS, max(10, width - 12), self.glyphs, from_zero=True, least=1.0 if unit != "s" else 0.001)
        begin, end = min(curve[0][0] for curve in curves if curve), max(curve[-1][0] for curve in curves if curve)
        yield Content("")
        yield Content.styled(title, "bold")
        yield from (Content(line) for line in chart(body, f"{high:.3g}", f"{low:.3g}", f"{begin:.0f} s", f"{end:.0f} s", width))

    def plain(self) -> str:
        """The whole report, as `doctor smoke` prints it; the plan before a run."""
        if self.running is not None and self.running.outcome is not None:
            return "".join(line + "\n" for line in outcome_lines(self.running.outcome, self.say, Style(110), self.language, 1))
        return "".join(clean(line) + "\n" for line in plan_lines(self.plan, self.say, os.cpu_count() or 1)) if self.plan is not None else ""


def verdict(outcome: Outcome, say: Speak) -> str:
    """The counts in one sentence."""
    counts = {state: sum(result.state is state for result in outcome.results) for state in State}
    key = "verdict_stopped" if counts[State.STOPPED] else "verdict_failed" if counts[State.FAILED] else "verdict_passed"
    return say(key, passed=counts[State.PASSED], failed=counts[State.FAILED], skipped=counts[State.SKIPPED])


def load_curve(figures: Iterable[Figure], unit: str) -> Curve:
    """(second of the load, value)."""
    points = []
    for figure in figures:
        if figure.name == LOAD_POINT and figure.unit == unit and figure.subject.isdecimal() and len(figure.subject) < 7:
            points.append((float(figure.subject), figure.value))
    return points


def _without_points(result: Result) -> Result:
    """Without the figures that are a curve."""
    if result.ended is None:
        return result
    events = tuple(event for event in result.ended.events if not (isinstance(event, Figure) and event.name == LOAD_POINT))
    return replace(result, ended=replace(result.ended, events=events))


def _plain(style: Style, lines: Iterable[str]) -> Iterator[Content]:
    for line in lines:
        indent = " " * min(12, len(line) - len(line.lstrip()))
        yield from (Content(part) for part in style.lines(line.strip(), indent + "  ", indent))


def _check(check: Check, say: Speak) -> Content:
    name = f"{check.name} [{check.subject}]" if check.subject else check.name
    label, style = (say("passed"), "") if check.passed else (say("check_failed"), "bold $text-error")
    return Content.assemble((label, style), "  ", short(f"{name}: {check.detail}" if check.detail else name, 300))


__all__ = ["SmokeView", "load_curve", "smoke_speaker", "verdict"]
