"""What could be done about a cause: fixes and their actions as data. Nothing here changes anything; `doctor.apply` alone may.

An action is one reversible change out of a closed set, written in a cause file as `do: [{<kind>: {<field>: <value>}}]`. A new kind is a
dataclass here, a line in `ACTIONS`, and one file in `doctor/apply/steps/` (docs/fixes.md). No action holds a shell string.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, cast

from doctor.record import dataclass
from doctor.words import Words


class Safety(enum.Enum):
    """What a fix may do to a serving machine."""

    SAFE = "safe"
    """Reversible, nothing restarts."""
    ASK = "ask"
    """Changes behaviour, or restarts or installs something."""
    SHOW = "show"
    """Printed with every value filled in, never executed: driver, firmware, reset, reboot, kernel command line."""


@dataclass(frozen=True)
class Show:
    """A step for a person: a sentence or a command line, in both languages."""

    text: Words


Step = Show
"""A step in words. What doctor itself can do stands beside the words, as `Fix.do`."""


@dataclass(frozen=True)
class SetSysctl:
    """`sysctl`: one kernel parameter, now and after every boot. `key` is dotted, "vm.swappiness"."""

    key: str
    value: str


@dataclass(frozen=True)
class SetSysfs:
    """`sysfs`: one setting below /sys, now and after every boot. `path` may hold `*`: every file that matches."""

    path: str
    value: str


@dataclass(frozen=True)
class WriteFile:
    """`file`: a file of doctor's own, or with `block` a marked block of that name inside a file that may be there already."""

    path: str
    content: str
    mode: str = "0644"
    """Octal, of a file that does not exist yet; one that does keeps its own."""
    block: str = ""
    effect: str = "now"
    """now, start (of the server), login, boot: from when on it counts."""


@dataclass(frozen=True)
class SetEnvironment:
    """`environment`: what the environment of the process that runs vLLM lacks.

    `set` gives variables a value, `prepend` puts one entry before a list separated by colons, `unset` removes, `rename` moves a value to
    another name, `source` names scripts to read first (set_env.sh of CANN and ATB). An entry whose value is not known is left out if
    something else remains.
    """

    set: Mapping[str, str] = field(default_factory=dict)
    prepend: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    source: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemdDropIn:
    """`systemd`: `service` are settings of the [Service] section, put in a drop-in of the unit that runs vLLM ("" finds that unit)."""

    service: Mapping[str, str]
    unit: str = ""


@dataclass(frozen=True)
class ContainerOptions:
    """`container`: options with which the container of vLLM has to be started, named as `docker run` names them: shm-size, ulimit, pids-limit."""

    run: Mapping[str, str]


@dataclass(frozen=True)
class PinPackages:
    """`packages`: Python packages of the target. `names` of the row of its release (() for the whole row), or `requirements` of their own
    ("numpy<2"). `remove` are packages that have to go. `build` "no-isolation" builds source archives with what the environment holds."""

    names: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    build: str = ""


@dataclass(frozen=True)
class InstallCann:
    """`cann`: CANN from local packages, beside what is there. `parts` among toolkit, ops, nnal: what has to be among the packages."""

    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class InstallOperators:
    """`operators`: a package of custom operators, from a local file or folder, into a folder of its own."""

    folder: str = ""
    """Where to; "" for doctor's own."""


@dataclass(frozen=True)
class EndProcesses:
    """`processes`: ends left-over processes. `which`: orphans (engines without a server), holders (of NPU memory), port (who listens on `port`),
    named (only those that the user names)."""

    which: str
    port: str = ""


@dataclass(frozen=True)
class RemoveLeftovers:
    """`leftovers`: files that dead processes left. `which`: shm (segments in /dev/shm), locks; `path` names one lock."""

    which: str
    path: str = ""


@dataclass(frozen=True)
class CorrectCommand:
    """`command`: the command or file that starts vLLM, corrected, written beside the original. `set` gives flags a value (an object in JSON
    is merged into the one that is there), `drop` takes flags out; names without dashes."""

    file: str = ""
    """"" for every file that the finding names."""
    set: Mapping[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class GuideOperators:
    """`guide`: an operator that is not supported, decided in order on this machine, with the step that the first "no" leads to. `goal`
    "flash-attention" asks only whether flash-attn-npu can work here."""

    goal: str = ""


Action = (
    SetSysctl | SetSysfs | WriteFile | SetEnvironment | SystemdDropIn | ContainerOptions
    | PinPackages | InstallCann | InstallOperators | EndProcesses | RemoveLeftovers | CorrectCommand
    | GuideOperators
)  # fmt: skip
"""The closed union of what doctor can do."""

ACTIONS: Mapping[str, type[Any]] = {
    "sysctl": SetSysctl,
    "sysfs": SetSysfs,
    "file": WriteFile,
    "environment": SetEnvironment,
    "systemd": SystemdDropIn,
    "container": ContainerOptions,
    "packages": PinPackages,
    "cann": InstallCann,
    "operators": InstallOperators,
    "processes": EndProcesses,
    "leftovers": RemoveLeftovers,
    "command": CorrectCommand,
    "guide": GuideOperators,
}
"""Kinds by the name that cause files use."""


@dataclass(frozen=True)
class Fix:
    """One way out: `steps` in words, `do` as actions where doctor can do it. `verify` says how to see that it worked."""

    id: str
    title: Words
    safety: Safety
    steps: tuple[Step, ...]
    verify: Words | None = None
    do: tuple[Action, ...] = ()


def kind_of(action: Action) -> str:
    """The name of the action's kind."""
    return next(name for name, kind in ACTIONS.items() if kind is type(action))


def action_of(plain: object) -> Action:
    """The action that a cause file writes as `{kind: {field: value}}`. Raises ValueError with the remedy."""
    if not isinstance(plain, Mapping) or len(plain) != 1:
        raise ValueError("`do` is a list of `<kind>: {<field>: <value>}`, one kind each")
    ((name, values),) = plain.items()
    kind = ACTIONS.get(name)
    if kind is None:
        raise ValueError(f"unknown action {name!r}; known are {', '.join(sorted(ACTIONS))}")
    if not isinstance(values, Mapping):
        raise ValueError(f"{name}: a mapping of fields was expected")
    fields = {item.name: item for item in dataclasses.fields(kind)}
    if unknown := sorted(set(values) - set(fields)):
        raise ValueError(f"{name}: unknown field {unknown[0]!r}; known are {', '.join(fields)}")
    given = {key: _value(f"{name}.{key}", str(fields[key].type), value) for key, value in values.items()}
    for item in fields.values():
        if item.name not in given and item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
            raise ValueError(f"{name}: the field {item.name!r} is missing")
    return cast("Action", kind(**given))


def _value(where: str, kind: str, value: object) -> object:
    if kind == "str" and isinstance(value, str):
        return value
    if kind.startswith("tuple") and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if kind.startswith("Mapping") and isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
        return dict(value)
    raise ValueError(f"{where}: {'a text' if kind == 'str' else 'a list of texts' if kind.startswith('tuple') else 'a mapping of texts'} was expected")


def texts_of(action: Action) -> Iterator[str]:
    """Every text of the action, for those who look for `<placeholders>`."""
    for item in dataclasses.fields(action):
        value = getattr(action, item.name)
        if isinstance(value, Mapping):
            yield from value.keys()
            yield from value.values()
        else:
            yield from (value,) if isinstance(value, str) else value


def filled(action: Action, values: Mapping[str, str]) -> Action:
    """The action with every `<placeholder>` replaced whose value is known."""

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return Words(value, value).filled(values).en
        if isinstance(value, Mapping):
            return {fill(key): fill(item) for key, item in value.items()}
        return tuple(fill(item) for item in value)

    if not any("<" in text for text in texts_of(action)):
        return action
    return dataclasses.replace(action, **{item.name: fill(getattr(action, item.name)) for item in dataclasses.fields(action)})


_PLACEHOLDER = re.compile(r"<([a-z][a-z0-9_]*)>")


def unfilled(text: str) -> tuple[str, ...]:
    """Names of the placeholders that nobody has filled."""
    return tuple(_PLACEHOLDER.findall(text))
