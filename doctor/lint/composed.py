"""The facts of one group of commands: what the commands tell, and what the machine tells besides; and which rules such facts concern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from doctor.checkup import facts_judged
from doctor.facts import HostFacts
from doctor.facts.container import RunCommands
from doctor.facts.model import Models
from doctor.facts.target import AscendBuild, Environment, Imports, Packages, Target, TorchBuild
from doctor.facts.vllm import ServeCommands, VllmProcesses
from doctor.host import Unavailable, Why
from doctor.rule import Rule

T = TypeVar("T")

TOLD_BY_COMMANDS: frozenset[type[Any]] = frozenset({ServeCommands, RunCommands, Environment})
"""Facts that come from what was named alone: what runs on this machine, or its scripts, is not what is judged."""

OF_THE_TARGET: frozenset[type[Any]] = frozenset({Packages, Target, AscendBuild, TorchBuild, Imports})
NEVER: frozenset[type[Any]] = frozenset({VllmProcesses, Models, *TOLD_BY_COMMANDS})


class ComposedFacts:
    """Facts of commands first, then of the machine. `host_packages` False: the commands run elsewhere than in the machine's own target."""

    def __init__(self, own: Sequence[object], machine: HostFacts | None, *, host_packages: bool = True) -> None:
        self._own = {type(fact): fact for fact in own}
        self._machine = machine
        self._hidden = NEVER if host_packages else NEVER | OF_THE_TARGET

    def get(self, kind: type[T]) -> T | Unavailable:
        own = self._own.get(kind)
        if own is not None:
            return own  # type: ignore[return-value]
        if kind in self._hidden or self._machine is None:
            return Unavailable(kind.__name__, Why.NOT_RECORDED, "not in these commands")
        return self._machine.get(kind)


def concerns(rule: Rule) -> bool:
    """Whether a rule reads commands or their variables, and not only log lines."""
    return bool(facts_judged(rule) & TOLD_BY_COMMANDS)
