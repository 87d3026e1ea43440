"""Conditions over facts, in three-valued logic.

Contract: `compile_condition` refuses what it does not know (ValueError); `Condition.evaluate` never raises. A condition is True,
False, or None: not known, and then `missing` says what is. `all` and `any` follow Kleene, so one false part decides an `all`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from doctor import versions
from doctor.facts import Facts
from doctor.fields import ABSENT, ON_MACHINES, FieldKind, Reading, Value, field_spec, read_field
from doctor.finding import Evidence
from doctor.record import dataclass
from doctor.regex import regex


@dataclass
class Trace:
    """What an evaluation looked at: the readings that made it true, and what was missing."""

    held: list[tuple[str, str, Reading]] = field(default_factory=list)
    """(field, wanted, reading)."""
    missing: list[str] = field(default_factory=list)

    def evidence(self) -> tuple[Evidence, ...]:
        """One piece of evidence a field."""
        return tuple(Evidence(reading.source or name, f"{name} = {shown(reading)}", reading.line) for name, _, reading in self.held)


def shown(reading: Reading) -> str:
    """The reading's values for people."""
    return ", ".join("not set" if value is ABSENT else str(value) for value in reading.values or ())


class Condition:
    """A compiled condition."""

    def __init__(self, test: Callable[[Facts, Trace], bool | None], fields: tuple[str, ...], ready: Callable[[], object]) -> None:
        self._test = test
        self.fields = fields
        self.ready = ready
        """Compiles every comparison, where evaluating compiles only those whose values are known. Raises ValueError for a wrong one."""

    def evaluate(self, facts: Facts, trace: Trace | None = None) -> bool | None:
        """True, False, or None where it hangs on something unknown."""
        return self._test(facts, trace if trace is not None else Trace())


def compile_condition(source: Any) -> Condition:
    """Compiles what stands under `when`. Raises ValueError with the reason."""
    condition = known_condition(source)
    condition.ready()
    return condition


def known_condition(source: Any) -> Condition:
    """As `compile_condition`, of what was compiled before: a comparison is compiled when the first value is compared."""
    if not isinstance(source, Mapping) or not source:
        raise ValueError("`when` is a mapping of fields to values")
    parts: list[Condition] = []
    for key, value in source.items():
        if key in ("all", "any"):
            if not isinstance(value, list) or not value:
                raise ValueError(f"`{key}` is a list of conditions")
            parts.append(_combine([known_condition(item) for item in value], key == "any"))
        elif key == "not":
            parts.append(_negate(known_condition(value)))
        else:
            parts.append(_compare(str(key), value))
    return parts[0] if len(parts) == 1 else _combine(parts, False)


def _combine(parts: list[Condition], decided_by: bool) -> Condition:
    """`any` is decided by the first True, `all` by the first False."""

    def test(facts: Facts, trace: Trace) -> bool | None:
        answers = []
        traces = [Trace() for _ in parts]
        for part, own in zip(parts, traces, strict=True):
            answer = part.evaluate(facts, own)
            if answer is decided_by:
                if decided_by:
                    trace.held += own.held
                return decided_by
            answers.append(answer)
        if None in answers:
            for answer, own in zip(answers, traces, strict=True):
                if answer is None:
                    trace.missing += own.missing
            return None
        if not decided_by:
            for own in traces:
                trace.held += own.held
        return not decided_by

    def ready() -> None:
        for part in parts:
            part.ready()

    return Condition(test, tuple(name for part in parts for name in part.fields), ready)


def _negate(part: Condition) -> Condition:
    def test(facts: Facts, trace: Trace) -> bool | None:
        own = Trace()
        answer = part.evaluate(facts, own)
        if answer is None:
            trace.missing += own.missing
            return None
        if not answer:
            for name in part.fields:
                reading = read_field(name, facts)
                if reading.values is not None:
                    trace.held.append((name, "", reading))
        return not answer

    return Condition(test, part.fields, part.ready)


def _compare(name: str, wanted: Any) -> Condition:
    spec, _ = field_spec(name)

    @functools.cache
    def matches() -> Callable[[Value], bool | None]:
        return _matcher(spec.kind, wanted)

    def test(facts: Facts, trace: Trace) -> bool | None:
        reading = read_field(name, facts)
        if reading.values is None:
            trace.missing.append(reading.why or name)
            return None
        answers = [matches()(value) for value in reading.values]
        if any(answer is True for answer in answers):
            if name != ON_MACHINES:
                trace.held.append((name, _told(wanted), reading))
            return True
        if any(answer is None for answer in answers):
            trace.missing.append(f"{name} = {shown(reading)} cannot be compared")
            return None
        return False

    return Condition(test, (name,), matches)


def _told(wanted: Any) -> str:
    if isinstance(wanted, list):
        return " or ".join(str(item) for item in wanted)
    if isinstance(wanted, Mapping):
        return "; ".join(f"{key} {_told(value)}" for key, value in wanted.items())
    return str(wanted)


_COMPARISON = regex(r"\s*(?:<=|>=|==|!=|<|>)")


def _matcher(kind: FieldKind, wanted: Any) -> Callable[[Value], bool | None]:
    if isinstance(wanted, list):
        tests = [_matcher(kind, item) for item in wanted]
        if not tests:
            raise ValueError("an empty list of values")
        return lambda value: True if any(answers := [test(value) for test in tests]) else None if None in answers else False
    if isinstance(wanted, Mapping):
        return _special(kind, wanted)
    text = str(wanted).strip()
    if text in ("present", "absent"):
        return lambda value: (value is ABSENT) == (text == "absent")
    if _COMPARISON.match(text):
        return _comparison(kind, text)
    if kind.scheme is not None:
        return _comparison(kind, f"== {text}")
    return lambda value: value is not ABSENT and str(value).lower() == text.lower()


def _special(kind: FieldKind, wanted: Mapping[str, Any]) -> Callable[[Value], bool | None]:
    if set(wanted) == {"not"}:
        inner = _matcher(kind, wanted["not"])
        return lambda value: None if (answer := inner(value)) is None else not answer
    if set(wanted) == {"matches"}:
        pattern = re.compile(str(wanted["matches"]))
        return lambda value: value is not ABSENT and pattern.search(str(value)) is not None
    raise ValueError("a value is a word, a list, a comparison, {matches: …} or {not: …}")


def _comparison(kind: FieldKind, text: str) -> Callable[[Value], bool | None]:
    if kind.scheme is not None:
        scheme = kind.scheme
        versions.satisfies("1.0", text, scheme)  # a malformed range is refused when the file is read
        return lambda value: False if value is ABSENT else versions.satisfies(str(value), text, scheme)
    if not kind.number:
        raise ValueError(f"{text!r}: this field is compared with words, not in order")
    tests = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(<=|>=|==|!=|<|>)\s*(-?\d+(?:\.\d+)?)\s*([KMGT]i?B?)?\s*", part)
        if not found:
            raise ValueError(f"{part!r} is not a comparison with a number")
        tests.append((found[1], float(found[2]) * _UNITS[(found[3] or " ")[0]]))
    return lambda value: _compare_numbers(value, tests)


_UNITS = {" ": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": float.__lt__,
    "<=": float.__le__,
    ">": float.__gt__,
    ">=": float.__ge__,
    "==": float.__eq__,
    "!=": float.__ne__,
}


def _compare_numbers(value: Value, tests: list[tuple[str, float]]) -> bool | None:
    if value is ABSENT:
        return False
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return all(_ORDER[sign](number, limit) for sign, limit in tests)
