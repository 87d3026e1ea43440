"""Runs rules over facts and a scanned log, and gives one verdict for each.

Contract: `run` yields exactly one verdict a rule, in the order of the rules; a rule that raises is BROKEN with its traceback. CLEAR is said
only when the rule looked; a condition or a piece of logic whose facts are unknown gives SKIPPED with what is missing.
"""

from __future__ import annotations

import time
import traceback
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from doctor.conditions import Condition, Trace, compile_condition, read_field, shown
from doctor.facts import Facts, providers
from doctor.finding import Basis, Confidence, Evidence, Finding, Hit, Outcome, Skip, Verdict
from doctor.host import Unavailable
from doctor.logscan.scan import Match, Scan
from doctor.logscan.signature import Matches, evidence_of, hits
from doctor.rule import Decision, Rule
from doctor.values import template_values
from doctor.words import Words

NO_LOG = "no log was given"


@dataclass(frozen=True)
class FactSet:
    """The facts of one target (or of the host or text as a whole); `label` is the subject of findings that depend on it."""

    label: str
    facts: Facts


@dataclass(frozen=True)
class _Answer:
    """What one way of deciding said: findings, or clear, or (with `missing`) nothing."""

    hits: tuple[Hit, ...] = ()
    missing: tuple[str, ...] = ()


def run(rules: Iterable[Rule], sets: Sequence[FactSet], scan: Scan) -> Iterator[Verdict]:
    """One verdict for each rule. `sets` is not empty; rules that need no target facts see only the first."""
    for rule in rules:
        yield judge(rule, sets, scan)


def judge(rule: Rule, sets: Sequence[FactSet], scan: Scan) -> Verdict:
    """One rule's verdict over all fact sets."""
    start = time.perf_counter()
    findings: list[Finding] = []
    missing: list[str] = []
    cleared = False
    try:
        ways = _ways(rule)
        wanted = sets if any(way.per_target for way in ways) else sets[:1]
        for facts in wanted:
            answers = [way.decide(facts.facts, scan) for way in ways]
            found = [hit for answer in answers for hit in answer.hits]
            if found:
                findings += _findings(rule, found, facts, len(wanted) > 1)
            elif all(answer.missing == () for answer, way in zip(answers, ways, strict=True) if way.facts) and any(
                answer.missing == () for answer in answers
            ):
                cleared = True
            missing += [reason for answer in answers for reason in answer.missing]
    except Exception:  # noqa: BLE001  any rule may be wrong; it costs its own verdict only
        return Verdict(rule.id, Outcome.BROKEN, traceback.format_exc(limit=-6), time.perf_counter() - start)
    seconds = time.perf_counter() - start
    if findings:
        return Verdict(rule.id, Outcome.FOUND, seconds=seconds, findings=tuple(findings))
    if cleared:
        return Verdict(rule.id, Outcome.CLEAR, seconds=seconds)
    return Verdict(rule.id, Outcome.SKIPPED, "; ".join(dict.fromkeys(missing)) or "nothing to look at", seconds)


@dataclass(frozen=True)
class _Way:
    """One way of deciding, ready to run. `facts`: it needs facts; `per_target`: those of a target."""

    decide: Callable[[Facts, Scan], _Answer]
    facts: bool
    per_target: bool


def _ways(rule: Rule) -> list[_Way]:
    ways = [_decision_way(decision) for decision in rule.decisions]
    if rule.logic is not None:
        ways.append(_logic_way(rule))
    return ways


def _decision_way(decision: Decision) -> _Way:
    condition = compile_condition(decision.when) if decision.when is not None else None
    per_target = condition is not None and any(_per_target(kind) for kind in condition_facts(condition))
    return _Way(lambda facts, scan: _decide(decision, condition, facts, scan), decision.signature is None, per_target)


def condition_facts(condition: Condition) -> set[type[Any]]:
    """The fact types that a condition reads."""
    from doctor.conditions import field_fact

    return {field_fact(name) for name in condition.fields}


def _per_target(kind: type[Any]) -> bool:
    provider = providers().get(kind)
    return kind.__name__ == "Target" or (provider is not None and provider.per_target)


def _decide(decision: Decision, condition: Condition | None, facts: Facts, scan: Scan) -> _Answer:
    matches: tuple[Match, ...] = ()
    if decision.signature is not None:
        if not scan.lines:
            return _Answer(missing=(NO_LOG,))
        matches = hits(decision.signature, scan)
        if not matches:
            return _Answer()
    trace = Trace()
    held = True if condition is None else condition.evaluate(facts, trace)
    if held is False:
        return _Answer()
    if held is None and (decision.unknown is None or not matches):
        return _Answer(missing=tuple(trace.missing))
    confidence = decision.confidence if held else decision.unknown
    return _Answer((_hit(decision, matches, trace, facts, confidence),))


def _hit(decision: Decision, matches: tuple[Match, ...], trace: Trace, facts: Facts, confidence: Confidence | None) -> Hit:
    evidence: tuple[Evidence, ...] = (evidence_of(matches),) if matches else ()
    found = _template(decision.found, facts) or (matches[0].text if matches else "; ".join(f"{n} = {shown(r)}" for n, _, r in trace.held))
    wanted = decision.wanted or ("" if matches else "; ".join(f"{name} not {told}" for name, told, _ in trace.held if told))
    values: dict[str, str] = {}
    for match in matches:
        values = {**match.groups, **values}
    return Hit(
        found=found[:400],
        wanted=wanted,
        evidence=evidence + trace.evidence(),
        confidence=confidence,
        severity=decision.severity,
        values=values,
        basis=Basis.BOTH if matches and trace.held else Basis.LOG if matches else Basis.FACTS,
        position=matches[0].ordinal + 1 if matches else 0,
    )


def _template(text: str, facts: Facts) -> str:
    """Fills `{field.name}` with what the facts say."""
    parts = text.split("{")
    for index, part in enumerate(parts[1:], 1):
        name, brace, rest = part.partition("}")
        if brace:
            parts[index] = (shown(read_field(name, facts)) or "unknown") + rest
    return "".join(parts)


def _logic_way(rule: Rule) -> _Way:
    from doctor.rulebook import LazyLogic

    function = rule.logic.function() if isinstance(rule.logic, LazyLogic) else rule.logic
    assert function is not None
    wanted = injections(function)
    needs = [kind for kind, _ in wanted.values() if kind is not Matches]
    return _Way(lambda facts, scan: _reason(rule, function, wanted, facts, scan), bool(needs), any(_per_target(kind) for kind in needs))


def injections(function: Callable[..., Any]) -> Mapping[str, tuple[type[Any], bool]]:
    """Parameter -> (fact type, whether None will do) of a rule's logic, by its annotations. TypeError if one has none."""
    hints = typing.get_type_hints(function)
    wanted: dict[str, tuple[type[Any], bool]] = {}
    for name in function.__code__.co_varnames[: function.__code__.co_argcount]:
        if name not in hints:
            raise TypeError(f"{function.__module__}.judge: the parameter {name!r} has no annotation")
        hint = hints[name]
        options = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        if typing.get_origin(hint) in (typing.Union, types.UnionType) and len(options) == 1:
            wanted[name] = (options[0], True)
        else:
            wanted[name] = (hint, False)
    return wanted


def _reason(rule: Rule, function: Callable[..., Any], wanted: Mapping[str, tuple[type[Any], bool]], facts: Facts, scan: Scan) -> _Answer:
    given: dict[str, Any] = {}
    missing: list[str] = []
    for name, (kind, optional) in wanted.items():
        if kind is Matches:
            if not scan.lines and not any(other is not Matches for other, _ in wanted.values()):
                return _Answer(missing=(NO_LOG,))
            given[name] = Matches(scan, rule.patterns)
            continue
        fact = facts.get(kind)
        if not isinstance(fact, Unavailable):
            given[name] = fact
        elif optional:
            given[name] = None
        else:
            missing.append(str(fact))
    if missing:
        return _Answer(missing=tuple(missing))
    try:
        return _Answer(tuple(function(**given) or ()))
    except Skip as skip:
        return _Answer(missing=(str(skip) or "cannot be told",))


def _findings(rule: Rule, found: Sequence[Hit], facts: FactSet, several: bool) -> list[Finding]:
    """The best finding for each subject, with the evidence of the others."""
    best: dict[str, Hit] = {}
    for hit in sorted(found, key=lambda hit: _strength(rule, hit), reverse=True):
        known = best.get(hit.subject)
        if known is None:
            best[hit.subject] = hit
        else:
            extra = tuple(item for item in hit.evidence if item not in known.evidence)
            basis = Basis.BOTH if Basis.BOTH in (known.basis, hit.basis) or known.basis != hit.basis else known.basis
            positions = [position for position in (known.position, hit.position) if position]
            best[hit.subject] = replace(
                known, evidence=known.evidence + extra, basis=basis, position=min(positions, default=0), values={**hit.values, **known.values}
            )
    return [_finding(rule, hit, facts, several) for hit in best.values()]


def _strength(rule: Rule, hit: Hit) -> tuple[int, int, int]:
    return (hit.confidence or Confidence.SURE), (hit.severity or rule.severity), hit.basis


def _finding(rule: Rule, hit: Hit, facts: FactSet, several: bool) -> Finding:
    confidence = hit.confidence or Confidence.SURE
    values = {**template_values(facts.facts, rule), **hit.values}
    return Finding(
        rule=rule.id,
        severity=hit.severity or rule.severity,
        confidence=confidence,
        title=rule.title.filled(values),
        why=rule.why.filled(values),
        subject=hit.subject or (facts.label if several else ""),
        found=hit.found,
        wanted=Words(hit.wanted, hit.wanted).filled(values).en,
        evidence=hit.evidence[:12],
        fixes=tuple(
            replace(
                fix,
                title=fix.title.filled(values),
                steps=tuple(replace(step, text=step.text.filled(values)) for step in fix.steps),
                verify=fix.verify.filled(values) if fix.verify else None,
            )
            for fix in rule.fixes
        ),
        decide=rule.undecided.filled(values) if rule.undecided and confidence is not Confidence.SURE else None,
        basis=hit.basis,
        position=hit.position,
    )


__all__ = ["FactSet", "condition_facts", "injections", "judge", "run"]
