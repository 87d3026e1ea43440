"""What differs between machines, times, or a machine and a bundle, fact by fact, with the rules that look at it.

Contract: pure. A difference whose values are not known on one side is no difference; it is told as unknown. What rules look at comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from doctor.examine import Examination
from doctor.facts import Facts
from doctor.facts.cann import Cann
from doctor.facts.kernel import Sysctls
from doctor.facts.npu import NpuDetail
from doctor.facts.target import Environment, Packages
from doctor.facts.vllm import ServeCommands
from doctor.fields import FIELDS, read_field
from doctor.host import Unavailable
from doctor.logic import needs
from doctor.rule import Rule
from doctor.text import clean_line

T = TypeVar("T")

SECTIONS = ("findings", "versions", "firmware", "packages", "environment", "settings", "serving", "hardware")
UNKNOWN = "unknown"
ABSENT = "absent"
LONGEST = 300
_STAND_IN = re.compile(r"(?<![\w-])(?:value|host|user|email|serial|model|path)-[0-9a-f]{6}(?![\w-])|\bMASKED\b")

_OF_FIELD = {
    "driver.version": "versions", "firmware.version": "versions", "cann.version": "versions", "nnal.version": "versions", "python.version": "versions", "os.kernel": "versions",
    "os.id": "versions", "os.version": "versions", "os.glibc": "versions", "thp.enabled": "settings", "governor": "settings", "numa.nodes": "hardware",
    "container.kind": "hardware", "container.image": "serving", "vllm.running": "serving", "cann_env.home": "environment", "cann_env.opp": "environment", "cann_env.atb_home": "environment",
}  # fmt: skip
_PASSING = frozenset({"memory.available", "npu_smi.state"})
"""Differs from minute to minute."""
_VOLATILE = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "PPID", "LINES", "COLUMNS", "TERM", "HOSTNAME", "SHELL", "LOGNAME", "USER"})


@dataclass(frozen=True)
class Side:
    """One thing compared: its name, and what is known of it by section and key."""

    label: str
    values: Mapping[tuple[str, str], str]
    unknown: frozenset[str] = frozenset()
    """Sections of which nothing is known."""


@dataclass(frozen=True)
class Difference:
    """One key that is not the same everywhere. `values` are in the order of the sides; `rules` look at it, and of those `found` fired on a side.

    `odd` are the sides that differ from most others; () where there is no majority.
    """

    section: str
    key: str
    values: tuple[str, ...]
    rules: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    odd: tuple[int, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """The whole answer. `unknown` says which sections a side does not tell."""

    labels: tuple[str, ...]
    differences: tuple[Difference, ...]
    same: int
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def side_of(label: str, examination: Examination) -> Side:
    """What an examination knows."""
    facts = examination.facts
    values: dict[tuple[str, str], str] = {}
    for name in FIELDS:
        if name.endswith(".") or name in _PASSING:
            continue
        reading = _read(name, facts)
        if reading is not None:
            values[_OF_FIELD.get(name, name.partition(".")[0] if name.partition(".")[0] in SECTIONS else "hardware"), name] = reading
    values.update(_tables(facts))
    findings = {(finding.rule, finding.subject): finding for cause in examination.causes for finding in (cause.finding, *cause.symptoms)}
    for (rule, subject), finding in findings.items():
        values["findings", rule + (f" ({subject})" if subject else "")] = finding.severity.word
    sections = {section for section, _ in values} | {"findings"}
    return Side(label, {key: clean_line(value)[:LONGEST] for key, value in values.items()}, frozenset(SECTIONS) - sections)


def _read(name: str, facts: Facts) -> str | None:
    try:
        reading = read_field(name, facts)
    except Exception:  # noqa: BLE001  a provider that breaks costs its own line
        return None
    return None if reading.values is None else ", ".join(sorted({str(value) for value in reading.values}))


def _tables(facts: Facts) -> Iterator[tuple[tuple[str, str], str]]:
    """Everything that has a name of its own: packages, variables, sysctls, flags, firmware by card."""
    if packages := _fact(facts, Packages):
        yield from ((("packages", name), version) for name, version in packages.versions.items())
    if environment := _fact(facts, Environment):
        yield from ((("environment", name), value) for name, value in environment.values.items() if name not in _VOLATILE)
    if sysctls := _fact(facts, Sysctls):
        yield from ((("settings", f"sysctl {name}"), value) for name, value in sysctls.values.items())
    if detail := _fact(facts, NpuDetail):
        yield from ((("firmware", f"NPU {npu}"), version) for npu, version in detail.firmware.items())
    if cann := _fact(facts, Cann):
        yield from ((("versions", f"CANN at {install.path}"), install.version or UNKNOWN) for install in cann.installs)
    commands = _fact(facts, ServeCommands)
    for command in commands.commands[:1] if commands else ():
        yield from ((("serving", f"--{name}"), value or "set") for name, value in command.flags.items())


def _fact(facts: Facts, kind: type[T]) -> T | None:
    try:
        found = facts.get(kind)
    except Exception:  # noqa: BLE001  as above
        return None
    return None if isinstance(found, Unavailable) else found


def compare(sides: Sequence[Side], rules: Mapping[str, Rule]) -> Comparison:
    """Every difference; those that explain a finding first, then those that a rule looks at, then by section and name."""
    looks = _looks(rules.values())
    fired = {key.split(" (")[0] for side in sides for section, key in side.values if section == "findings"}
    differences, same = [], 0
    for section, key in sorted({key for side in sides for key in side.values}):
        values = tuple(_value(side, section, key) for side in sides)
        told = [value for value in values if value != UNKNOWN]
        if len(set(told)) < 2:
            same += 1
            continue
        touching = (key.split(" (")[0],) if section == "findings" else looks.get((section, key), looks.get((section, ""), ()))
        differences.append(Difference(section, key, values, touching, tuple(rule for rule in touching if rule in fired), _odd(values)))
    differences.sort(key=_weight)
    unknown = {side.label: tuple(section for section in SECTIONS if section in side.unknown) for side in sides if side.unknown}
    return Comparison(tuple(side.label for side in sides), tuple(differences), same, unknown)


def _value(side: Side, section: str, key: str) -> str:
    if section in side.unknown:
        return UNKNOWN
    if _STAND_IN.search(side.values.get((section, key), "")):
        return UNKNOWN  # masked: whether it differs cannot be told
    return side.values.get((section, key), "clear" if section == "findings" else ABSENT if section in ("packages", "environment", "serving", "firmware") else UNKNOWN)


_SEVERITIES = {"fail": 0, "warn": 1, "note": 2}


def _weight(difference: Difference) -> tuple[int, int, int, str]:
    section = SECTIONS.index(difference.section)
    if difference.section == "findings":
        return 0, min(_SEVERITIES.get(value, 3) for value in difference.values), section, difference.key
    return (1 if difference.found else 2 if difference.rules else 3), 0, section, difference.key


def _odd(values: Sequence[str]) -> tuple[int, ...]:
    """Of more than two, the sides that do not have what most have."""
    counts = Counter(value for value in values if value != UNKNOWN)
    if len(values) < 3 or not counts:
        return ()
    usual, count = counts.most_common(1)[0]
    return tuple(index for index, value in enumerate(values) if value not in (usual, UNKNOWN)) if 2 * count > sum(counts.values()) else ()


def _looks(rules: Iterable[Rule]) -> dict[tuple[str, str], tuple[str, ...]]:
    """(section, key) -> the rules whose conditions or logic look at it; the key "" for a whole section."""
    found: dict[tuple[str, str], list[str]] = {}
    by_name = (Packages, Environment, Sysctls, ServeCommands)  # which of their entries a rule's logic wants is not told
    for rule in rules:
        names = {name for decision in rule.decisions for name in _fields(decision.when)}
        for name in names:
            found.setdefault(_place(name), []).append(rule.id)
        for kind in _needed(rule):
            if kind is NpuDetail:
                found.setdefault(("firmware", ""), []).append(rule.id)
            for field_name, spec in FIELDS.items():
                if spec.fact is kind and kind not in by_name and not field_name.endswith("."):
                    found.setdefault(_place(field_name), []).append(rule.id)
    return {place: tuple(sorted(set(ids))) for place, ids in found.items()}


def _needed(rule: Rule) -> list[type[Any]]:
    if rule.logic is None:
        return []
    try:
        return [need.kind for need in needs(rule.logic)]
    except Exception:  # noqa: BLE001  a rule of a third party that does not import
        return []


def _fields(condition: Any) -> Iterator[str]:
    if isinstance(condition, Mapping):
        for key, value in condition.items():
            if key in ("all", "any", "not"):
                yield from _fields(value)
            else:
                yield key
    elif isinstance(condition, list | tuple):
        for item in condition:
            yield from _fields(item)


def _place(name: str) -> tuple[str, str]:
    for prefix, section, form in (("package.", "packages", "{}"), ("env.", "environment", "{}"), ("sysctl.", "settings", "sysctl {}"), ("flag.", "serving", "--{}")):
        if name.startswith(prefix):
            return section, form.format(name[len(prefix) :])
    return _OF_FIELD.get(name, "hardware"), name


__all__ = ["Comparison", "Difference", "SECTIONS", "Side", "compare", "side_of"]
