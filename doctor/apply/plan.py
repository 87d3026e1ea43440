"""Plans: what would be done, step by step, as pure data, and the hash by which a reviewed plan is known again.

Contract: two plans with one hash make the same changes on the same machine. What is only told (process numbers, notes) does not count.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doctor import __version__
from doctor.apply.change import Change
from doctor.fix import Action, Safety, kind_of
from doctor.words import Words


class Effect(enum.Enum):
    """When a change takes effect, and from when on it can be verified."""

    NOW = "now"
    NEXT_START = "next start"
    """Of the server: a running process keeps what it was started with."""
    NEXT_LOGIN = "next login"
    NEXT_BOOT = "next boot"
    """Of the root that was changed."""


@dataclass(frozen=True)
class Needs:
    """What a step needs. `restart` names what a person has to restart afterwards; doctor restarts nothing by itself."""

    root: bool = False
    network: bool = False
    restart: tuple[str, ...] = ()
    reboot: bool = False


@dataclass(frozen=True)
class Disturbed:
    """A running process that a step disturbs, and how."""

    pid: int
    name: str
    how: Words


@dataclass(frozen=True)
class Note:
    """Something to know before applying. `conflict`: something else sets the same thing."""

    text: Words
    conflict: bool = False


@dataclass(frozen=True)
class StepPlan:
    """One action, looked at on this machine.

    `changes` is empty where everything is as wanted already. `blocked` says why it cannot be applied here (inside a container, a value
    that is not known); `host_commands` is then what a person runs instead, where that can be told. `key` names the step within its fix for
    those who switch it off; `after` are keys of steps without which it makes no sense.
    """

    key: str
    action: Action
    title: Words
    changes: tuple[Change, ...] = ()
    needs: Needs = Needs()
    disturbs: tuple[Disturbed, ...] = ()
    effect: Effect = Effect.NOW
    notes: tuple[Note, ...] = ()
    blocked: Words | None = None
    host_commands: tuple[str, ...] = ()
    undo: Words | None = None
    """How it is undone, where that is not simply what was there before."""
    after: tuple[str, ...] = ()

    @property
    def already(self) -> bool:
        """Nothing is left to do."""
        return self.blocked is None and not self.changes


@dataclass(frozen=True)
class FixPlan:
    """One fix of one finding. `rule` is run again afterwards; `label` is the subject of the finding."""

    rule: str
    fix: str
    subject: str
    title: Words
    cause: Words
    safety: Safety
    steps: tuple[StepPlan, ...]
    shown: tuple[Words, ...] = ()
    """The fix in words: all there is where it is SHOW, or where a step is blocked."""
    verify: Words | None = None

    @property
    def effect(self) -> Effect:
        """The latest of its steps."""
        order = list(Effect)
        return max((step.effect for step in self.steps if step.changes), key=order.index, default=Effect.NOW)

    @property
    def blocked(self) -> tuple[Words, ...]:
        return tuple(step.blocked for step in self.steps if step.blocked is not None)

    @property
    def already(self) -> bool:
        return bool(self.steps) and all(step.already for step in self.steps)

    @property
    def applicable(self) -> bool:
        return self.safety is not Safety.SHOW and bool(self.steps) and not self.blocked and not self.already


@dataclass(frozen=True)
class Plan:
    """All that would be done in one transaction. `root` is "/" or the folder that was named; `machine` the host's label."""

    root: str
    machine: str
    fixes: tuple[FixPlan, ...]

    @property
    def hash(self) -> str:
        """64 hex digits."""
        told = {
            "version": __version__,
            "root": self.root,
            "machine": self.machine,
            "fixes": [
                {"rule": fix.rule, "fix": fix.fix, "subject": fix.subject, "steps": [_step_data(step) for step in fix.steps]} for fix in self.fixes
            ],
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

    @property
    def steps(self) -> tuple[StepPlan, ...]:
        return tuple(step for fix in self.fixes for step in fix.steps)

    @property
    def applicable(self) -> bool:
        """Something would be changed, and nothing stands in the way."""
        return any(fix.applicable for fix in self.fixes) and all(fix.applicable or fix.already for fix in self.fixes)

    @property
    def safety(self) -> Safety:
        """The strictest of its fixes."""
        order = list(Safety)
        return max((fix.safety for fix in self.fixes), key=order.index, default=Safety.SAFE)


def _step_data(step: StepPlan) -> Mapping[str, Any]:
    return {
        "key": step.key,
        "action": kind_of(step.action),
        "changes": [{"kind": change.KIND, **change.data()} for change in step.changes],
        "blocked": step.blocked is not None,
        "restart": sorted(step.needs.restart),
        "disturbs": sorted({item.name for item in step.disturbs}),
    }


__all__ = ["Disturbed", "Effect", "FixPlan", "Needs", "Note", "Plan", "StepPlan"]
