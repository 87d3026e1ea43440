"""What a smoke screen works on: the plan of a run, and the run itself while it goes on. Knows no Textual.

Contract: `Bench.plan` and `Running.go` block; run them in a thread. What a `Running` holds is read by the screen meanwhile: single assignments
and appends are atomic. `stop` ends the children of the run at once; `over` is set when none is left.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doctor.smoke.events import Check, Event, Figure, Line, Stage
from doctor.text import clean_line

if TYPE_CHECKING:
    from doctor.host import Host
    from doctor.smoke.outcome import Outcome, Result
    from doctor.smoke.plan import Plan, Refusal, Step

LINES = 2000
"""Lines of a running step's output that are kept for the screen."""

LOADS = (0, 1, 4, 16, 64)
"""Requests at once on a server."""


@dataclass(frozen=True)
class Bench:
    """The machine that is tested, and with which interpreter."""

    host: Host
    python: str | None = None
    scale: float = 1.0

    def plan(self, level: int, load: int) -> Plan | Refusal:
        """What would be done, on what is there now."""
        from doctor.smoke.plan import Refusal, plan
        from doctor.smoke.request import Request, look

        request = Request(level=level, load=load, python=self.python, key=os.environ.get("VLLM_API_KEY", ""), scale=self.scale)
        try:
            return plan(request, look(self.host, request))
        except Refusal as refusal:
            return refusal


@dataclass
class Progress:
    """One step while it runs."""

    began: float
    stage: str = ""
    figures: list[Figure] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES))


class Running:
    """One run, told by its thread."""

    def __init__(self, plan: Plan, clock: Callable[[], float] = time.monotonic) -> None:
        self.plan = plan
        self._clock = clock
        self.stop, self.over = threading.Event(), threading.Event()
        self.results: dict[str, Result] = {}
        self.steps: dict[str, Progress] = {}
        self.now = ""
        """The step that runs."""
        self.outcome: Outcome | None = None
        self.problem = ""
        self.news = 0
        """Counts everything that was told, so that a screen knows whether there is something new."""
        self._begin = clock()
        self._end: float | None = None

    def go(self, host: Host) -> None:
        """The whole run."""
        from doctor.rulebook import load
        from doctor.smoke.run import run

        try:
            self.outcome = run(self.plan, host, load(), self, self.stop)
        except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
            self.problem = clean_line(f"{type(problem).__name__}: {problem}")[:300]
        finally:
            self.now, self._end = "", self._clock()
            self.news += 1
            self.over.set()

    def began(self, step: Step) -> None:
        self.steps[step.id] = Progress(self._clock())
        self.now = step.id
        self.news += 1

    def heard(self, step: Step, event: Event | Line) -> None:
        progress = self.steps[step.id]
        if isinstance(event, Line):
            progress.lines.append(event.text)
        elif isinstance(event, Stage):
            progress.stage = event.name
        elif isinstance(event, Figure):
            progress.figures.append(event)
        elif isinstance(event, Check):
            progress.checks.append(event)
        self.news += 1

    def ended(self, result: Result) -> None:
        self.results[result.step] = result
        self.now = ""
        self.news += 1

    @property
    def seconds(self) -> float:
        return (self._end if self._end is not None else self._clock()) - self._begin

    def since(self, step: str) -> float:
        """Seconds since the step began."""
        return self._clock() - self.steps[step].began if step in self.steps else 0.0

    @property
    def share(self) -> float:
        """How much is done, by the time that steps usually take; a step that takes longer stands just before its end."""
        if self.over.is_set():
            return 1.0
        done = sum(step.usual if step.id in self.results else min(0.95 * step.usual, self.since(step.id)) for step in self.plan.running)
        return done / (self.plan.usual or 1.0)


def output_of(running: Running, step: str) -> str:
    """What a step has printed: all that was kept of it once it has ended, its last lines before."""
    result = running.results.get(step)
    if result is not None and result.ended is not None:
        return result.ended.output
    return "\n".join(list(running.steps[step].lines)) if step in running.steps else ""


__all__ = ["Bench", "LOADS", "Progress", "Running", "output_of"]
