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
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from doctor.record import dataclass
from doctor.smoke.events import Check, Event, Figure, Line, Stage
from doctor.text import clean, clean_line
from doctor.tui.form import Values

if TYPE_CHECKING:
    from doctor.host import Host
    from doctor.smoke.outcome import Outcome, Result
    from doctor.smoke.plan import Plan, Refusal, Step
    from doctor.smoke.request import Request, Seen

LINES = 2000
"""Lines of a running step's output that are kept for the screen."""

LOADS = (0, 1, 4, 16, 64)
"""Requests at once on a server."""


NOTHING_ASKED: Values = {"level": "2", "device": "auto", "busy": "no", "load": "0", "seconds": "20"}
"""The inputs of a smoke test before anything was typed."""


def next_load(text: str) -> str:
    """The next greater load of those that one key goes through; none after the greatest."""
    now = int(text) if text.isdecimal() else 0
    return str(next((load for load in LOADS if load > now), 0))


@dataclass(frozen=True)
class Looked:
    """What would be done, or why it is refused, and what was seen of the machine."""

    plan: Plan | Refusal | None = None
    seen: Seen | None = None

    @property
    def server(self) -> str:
        """The address that would be asked."""
        steps = getattr(self.plan, "steps", ())
        return next((str(step.job.get("url", "")) for step in steps if step.id == "server"), "")


@dataclass(frozen=True)
class Bench:
    """The machine that is tested, and with which interpreter unless another one is typed."""

    host: Host
    python: str | None = None
    scale: float = 1.0

    def plan(self, asked: Values) -> Looked:
        """What would be done, on what is there now."""
        from doctor.smoke.plan import Refusal, plan
        from doctor.smoke.request import look

        seen = None
        try:
            request = self.request(asked)
            seen = look(self.host, request)
            return Looked(plan(request, seen), seen)
        except Refusal as refusal:
            return Looked(refusal, seen)

    def request(self, asked: Values) -> Request:
        """What was typed. Raises `Refusal`."""
        from doctor.smoke.asked import cards_asked, flags_asked, key_in_file, load_asked, python_asked, seconds_asked, url_asked, words_of
        from doctor.smoke.request import Request

        model, key_file = asked.get("model", ""), asked.get("key_file", "")
        return Request(
            level=int(asked["level"]), device=asked["device"], cards=cards_asked(asked["cards"]) if asked.get("cards") else None, model=os.path.expanduser(model),
            flags=flags_asked(words_of(asked.get("flags", "")), model), url=url_asked(asked.get("url", "")), load=load_asked(asked.get("load", "")),
            load_seconds=seconds_asked(asked.get("seconds") or "20"), use_busy=asked.get("busy") == "yes",
            python=python_asked(os.path.expanduser(asked.get("python", ""))) or self.python,
            key=key_in_file(os.path.expanduser(key_file)) if key_file else os.environ.get("VLLM_API_KEY", ""), scale=self.scale,
        )  # fmt: skip

    def report(self, outcome: Outcome, seen: Seen, language: str) -> str:
        """The text of `doctor smoke --report`, which can be sent to others."""
        from doctor.bundle.sendable import sendable
        from doctor.locale import room_speaker
        from doctor.smoke.machine import machine_lines
        from doctor.smoke.text import feedback_lines
        from doctor.smoke.words import WORDS

        lines = feedback_lines(outcome, machine_lines(self.host, seen), self.host.label, room_speaker(WORDS, language), language)
        return sendable("".join(clean(line) + "\n" for line in lines), self.host)


def written(text: str, path: Path) -> str:
    """Writes a new file, never over another one; why it is not written, "" where it is."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as problem:
        return clean_line(getattr(problem, "strerror", None) or str(problem))
    return ""


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
            _keep(self.outcome)
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


def _keep(outcome: Outcome) -> None:
    """For a bundle."""
    from doctor.bundle.results import keep_smoke
    from doctor.locale import room_speaker
    from doctor.rulebook import load
    from doctor.smoke.jsonform import outcome_json
    from doctor.smoke.words import WORDS

    keep_smoke(outcome_json(outcome, room_speaker(WORDS, "en"), "en", load().rules), os.environ, os.geteuid())


def output_of(running: Running, step: str) -> str:
    """What a step has printed: all that was kept of it once it has ended, its last lines before."""
    result = running.results.get(step)
    if result is not None and result.ended is not None:
        return result.ended.output
    return "\n".join(list(running.steps[step].lines)) if step in running.steps else ""


__all__ = ["Bench", "LOADS", "Looked", "NOTHING_ASKED", "Progress", "Running", "next_load", "output_of", "written"]
