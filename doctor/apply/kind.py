"""A step kind: how one kind of action is looked at on a machine and becomes changes. One file in doctor/apply/steps/ each.

Contract: `plan` reads through the `Host` and the facts of the context and changes nothing; it never raises for anything that a machine can
tell. What cannot be done here is a `StepPlan` with `blocked`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from doctor.apply.change import Change, ChangeError
from doctor.apply.plan import StepPlan
from doctor.facts import Facts, known
from doctor.facts.container import Container
from doctor.fix import ACTIONS, Action, kind_of
from doctor.host import Host

A = TypeVar("A", contravariant=True)
T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    """What the user chose on the command line; "" where he did not."""

    form: str = ""
    """Of an environment: shell, systemd, dockerfile, compose, kubernetes."""
    to: str = ""
    """Where to write it."""
    unit: str = ""
    """systemd unit, compose service or Kubernetes container that runs vLLM."""
    package: str = ""
    """A local package to install (CANN run-file, custom operators)."""
    wheels: str = ""
    """A folder of wheels: nothing is fetched from a network then."""
    pids: tuple[int, ...] = ()
    """Processes that the user named."""
    packages: tuple[str, ...] = ()
    """Local packages to install, where there are several (`package` is one of them)."""
    online: bool = False
    """The user allows the network."""


@dataclass(frozen=True)
class Context:
    """All that a step kind may look at. `rule` and `fix` name where the action comes from; `root` is "/" or the folder that was named."""

    host: Host
    facts: Facts
    rule: str
    fix: str
    root: str = "/"
    euid: int = 0
    choices: Choices = Choices()
    subject: str = ""
    """Of the finding."""

    @property
    def mark(self) -> str:
        """A name for what is written for this finding: the rule, and the subject where a rule finds several."""
        if not self.subject:
            return self.rule
        plain = re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", self.subject)
        return f"{self.rule}-{self.subject if plain else hashlib.sha256(self.subject.encode()).hexdigest()[:8]}"

    def fact(self, kind: type[T]) -> T | None:
        """A fact, None where it is not known."""
        return known(self.facts.get(kind))

    @property
    def live(self) -> bool:
        """Running values count: the root is this machine's own."""
        return self.root == "/" and self.host.live

    @property
    def contained(self) -> bool:
        """Inside a container: the host's settings are never changed from here. A root that was named with --root is a host's."""
        container = self.fact(Container)
        return self.root == "/" and container is not None and container.inside


class StepKind(Protocol[A]):
    """One kind of action."""

    action: type[Any]
    changes: tuple[type[Change], ...]
    """The kinds of changes that are this step's own, so that the journal can read them again; () where it uses those of doctor.apply."""

    def plan(self, key: str, action: A, context: Context) -> StepPlan: ...


MODULES: Mapping[str, str] = {
    "sysctl": "sysctl",
    "sysfs": "sysfs",
    "file": "write_file",
    "environment": "environment",
    "systemd": "systemd",
    "container": "container",
    "packages": "pip_install",
    "cann": "cann_install",
    "operators": "custom_opp",
    "processes": "end_process",
    "leftovers": "remove_leftover",
    "command": "edit_command",
    "guide": "operator_guide",
}
"""Module of doctor.apply.steps by the name of the kind; each has a `KIND`."""


def step_kind(name: str) -> StepKind[Any]:
    """The step kind of that name; imported when it is asked for."""
    kind: StepKind[Any] = importlib.import_module(f"doctor.apply.steps.{MODULES[name]}").KIND
    return kind


def plan_step(key: str, action: Action, context: Context) -> StepPlan:
    """The action looked at on this machine."""
    return step_kind(kind_of(action)).plan(key, action, context)


@functools.cache
def change_kind(name: str) -> type[Change] | None:
    """The kind of change of that name, for reading a journal; no more step kinds are imported than it takes, and a broken one is passed over."""
    from doctor.apply.filechange import FileChange
    from doctor.apply.kernelchange import KernelChange

    common: tuple[type[Change], ...] = (FileChange, KernelChange)
    for kind in common:
        if name == kind.KIND:
            return kind
    for step in ACTIONS:
        with contextlib.suppress(ImportError):
            for kind in step_kind(step).changes:
                if name == kind.KIND:
                    return kind
    return None


def change_of(data: Mapping[str, Any]) -> Change:
    """The change that a journal holds. Raises `ChangeError`."""
    kind = change_kind(str(data.get("kind")))
    if kind is None:
        raise ChangeError(f"a change of a kind that this doctor does not know: {str(data.get('kind'))[:80]}")
    try:
        return kind.of(data)
    except (KeyError, TypeError, ValueError) as problem:
        raise ChangeError(f"a change in the journal is not understood: {problem}") from None


__all__ = ["Choices", "Context", "MODULES", "StepKind", "change_kind", "change_of", "plan_step", "step_kind"]
