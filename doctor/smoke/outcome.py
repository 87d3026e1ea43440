"""What a run has given: one result a step with its cause, what was left behind, and the exit code. Pure data."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

from doctor.diagnosis import Cause
from doctor.firsterror import FirstError
from doctor.smoke.child import Ended, How
from doctor.smoke.events import Check, Figure
from doctor.smoke.leftovers import Leftovers
from doctor.smoke.plan import Plan, Reason


class State(enum.Enum):
    """What became of a step."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Diagnosis:
    """What the rules say about a failure: its causes, most important first, and the first error that none explains."""

    causes: tuple[Cause, ...] = ()
    first_error: FirstError | None = None


@dataclass(frozen=True)
class Result:
    """One step. `reason` for a skipped one; `ended` for one that ran; `diagnosis` for a failed one."""

    step: str
    state: State
    reason: Reason | None = None
    ended: Ended | None = None
    diagnosis: Diagnosis | None = None

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        return tuple(check for check in (self.ended.checks if self.ended else ()) if not check.passed)

    @property
    def figures(self) -> tuple[Figure, ...]:
        return self.ended.figures if self.ended else ()

    @property
    def how(self) -> How | None:
        return self.ended.how if self.ended else None


@dataclass(frozen=True)
class Outcome:
    """The whole run."""

    plan: Plan
    results: tuple[Result, ...]
    leftovers: Leftovers
    seconds: float
    started: str = ""
    environment: Sequence[tuple[str, str]] = field(default=())
    """What identifies the machine, for a reader elsewhere: (name, value)."""

    @property
    def exit_code(self) -> int:
        """0 all that ran passed; 1 a step failed or something was left behind; 3 nothing ran; 130 stopped."""
        states = {result.state for result in self.results}
        if State.STOPPED in states:
            return 130
        if State.FAILED in states or not self.leftovers.clean:
            return 1
        return 0 if State.PASSED in states else 3


def state_of(ended: Ended) -> State:
    """A step passes if its process ended well and no check failed."""
    if ended.how is How.STOPPED:
        return State.STOPPED
    return State.PASSED if ended.how is How.FINISHED and all(check.passed for check in ended.checks) else State.FAILED
