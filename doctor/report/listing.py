"""Lists of what doctor knows: its rules, and the fields that conditions may name; as text and as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from doctor.checkup import facts_read
from doctor.facts import providers
from doctor.fields import FIELDS, FieldSpec
from doctor.host import Probe
from doctor.locale import Speak
from doctor.report.style import Style, padded
from doctor.rule import Rule
from doctor.text import cell_width

_PROBES = (Probe.PASSIVE, Probe.PROCESS, Probe.DEVICE, Probe.LOAD)
"""Least disturbing first."""


def needed(rule: Rule) -> set[type[Any]]:
    """The fact types that a rule asks for; those of logic that cannot be imported are left out (the rule itself will be BROKEN)."""
    try:
        return facts_read(rule)
    except Exception:  # noqa: BLE001  a third-party rule may raise anything when it is imported
        return set()


def probe(rule: Rule) -> Probe:
    """How much the rule's look disturbs a machine."""
    known = providers()
    used = [known[kind].probe for kind in needed(rule) if kind in known]
    return max(used, key=_PROBES.index, default=Probe.PASSIVE)


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """By area, then by id."""
    return sorted(rules, key=lambda rule: (rule.area, rule.id))


def rule_json(rule: Rule, language: str) -> dict[str, Any]:
    return {
        "id": rule.id, "area": rule.area, "severity": rule.severity.word, "role": rule.role.value, "kind": rule.kind,
        "probe": probe(rule).value, "origin": rule.origin, "formerly": list(rule.formerly), "title": rule.title[language],
    }  # fmt: skip


def rule_lines(rules: Iterable[Rule], language: str, speak: Speak, style: Style) -> Iterator[str]:
    """Two lines a rule: its id with what it looks at, and its title."""
    rows = in_order(rules)
    wide = max((cell_width(rule.id) for rule in rows), default=0)
    for rule in rows:
        about = f"{rule.severity.word:<5} {rule.kind:<14} {probe(rule).value:<8} {rule.origin}"
        yield from style.verbatim(f"{padded(rule.id, wide)}  {about}", "")
        yield from style.lines(rule.title[language], "    ")
    yield ""
    yield speak("rules_total", count=len(rows))


def compared(spec: FieldSpec) -> str:
    """How the values of a field are compared: text, number, or a version order."""
    return spec.kind.scheme.name.lower() if spec.kind.scheme is not None else "number" if spec.kind.number else "text"


def field_json(spec: FieldSpec) -> dict[str, str]:
    return {"name": spec.name, "compared": compared(spec), "about": spec.about}


def field_lines(speak: Speak) -> Iterator[str]:
    """One line a field."""
    wide = max(len(name) for name in FIELDS) + 3
    for spec in sorted(FIELDS.values(), key=lambda spec: spec.name):
        key = spec.name.endswith(".")
        about = "; ".join(part for part in (spec.about, speak("field_key") if key else "") if part)
        yield f"{spec.name + ('KEY' if key else ''):<{wide}}  {compared(spec):<8} {about}".rstrip()
