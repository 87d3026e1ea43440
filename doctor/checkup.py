"""Runs rules over facts and a scanned log, and gives one verdict for each.

Contract: `run` yields exactly one verdict a rule, in the order of the rules; a rule that raises is BROKEN with its traceback. CLEAR is said
only when the rule looked; a condition or a piece of logic whose facts are unknown gives SKIPPED with what is missing.
"""

from __future__ import annotations

import functools
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from doctor.conditions import Condition, Trace, known_condition, shown
from doctor.facts import Facts, FixedFacts, providers
from doctor.fields import field_fact, read_field
from doctor.finding import Basis, Confidence, Evidence, Finding, Hit, Outcome, Severity, Skip, Verdict
from doctor.fix import filled as filled_action
from doctor.host import Unavailable
from doctor.logic import Need, needs
from doctor.logscan.scan import Match, Scan
from doctor.logscan.signature import Matches, evidence_of, hits
from doctor.record import dataclass
from doctor.rule import Decision, Rule
from doctor.values import template_values, told
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
    if (known := _without_looking(rule, sets, scan)) is not None:
        return known
    start = time.perf_counter()
    findings: list[Finding] = []
    missing: list[str] = []
    cleared = False
    try:
        ways = _ways(rule)
        wanted = sets if len(sets) > 1 and any(way.per_target() for way in ways) else sets[:1]
        for facts in wanted:
            answers = [way.decide(facts.facts, scan) for way in ways]
            found = [hit for answer in answers for hit in answer.hits]
            if found:
                findings += _findings(rule, found, facts, len(wanted) > 1)
            elif any(answer.missing == () for answer in _telling(answers, ways)):
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


def _without_looking(rule: Rule, sets: Sequence[FactSet], scan: Scan) -> Verdict | None:
    """The verdict where no line decides and none of the facts is known that the rule asks for: known without looking into the rule."""
    silent = rule.silent
    if silent is None or any(pattern in scan.hits for pattern in rule.deciding):
        return None
    asked, missing = silent
    if not asked:
        return Verdict(rule.id, Outcome.CLEAR) if scan.lines else Verdict(rule.id, Outcome.SKIPPED, NO_LOG)
    facts = sets[0].facts
    if not scan.lines or not isinstance(facts, FixedFacts) or not facts.names.isdisjoint(asked):
        return None
    return Verdict(rule.id, Outcome.SKIPPED, "; ".join(missing)) if missing else Verdict(rule.id, Outcome.CLEAR)


def _telling(answers: Sequence[_Answer], ways: Sequence[_Way]) -> list[_Answer]:
    """The answers that can clear the rule: those from facts, where it knows any; a log without a sign does not make up for unknown facts."""
    by_facts = [answer for answer, way in zip(answers, ways, strict=True) if way.facts]
    return by_facts or list(answers)


@dataclass(frozen=True)
class _Way:
    """One way of deciding, ready to run. `facts`: it needs facts; `per_target`: those of a target."""

    decide: Callable[[Facts, Scan], _Answer]
    facts: bool
    per_target: Callable[[], bool]


def _ways(rule: Rule) -> list[_Way]:
    ways = [_decision_way(decision) for decision in rule.decisions]
    if rule.logic is not None:
        ways.append(_logic_way(rule))
    return ways


def _decision_way(decision: Decision) -> _Way:
    @functools.cache
    def condition() -> Condition | None:
        """Compiled when it is first asked for: most log lines never come."""
        return known_condition(decision.when) if decision.when is not None else None

    def per_target() -> bool:
        compiled = condition()
        return compiled is not None and any(_per_target(kind) for kind in condition_facts(compiled))

    return _Way(lambda facts, scan: _decide(decision, condition, facts, scan), decision.signature is None and not decision.on_machines, per_target)


def condition_facts(condition: Condition) -> set[type[Any]]:
    """The fact types that a condition reads."""
    return {field_fact(name) for name in condition.fields}


def facts_read(rule: Rule) -> set[type[Any]]:
    """Every fact type that a rule asks for."""
    return _facts_of(rule, rule.decisions)


def facts_judged(rule: Rule) -> set[type[Any]]:
    """The fact types by which a rule can decide without a log line."""
    return _facts_of(rule, [decision for decision in rule.decisions if decision.signature is None])


def _facts_of(rule: Rule, decisions: Iterable[Decision]) -> set[type[Any]]:
    kinds = {kind for decision in decisions if decision.when is not None for kind in condition_facts(known_condition(decision.when))}
    if rule.logic is not None:
        kinds |= {need.kind for need in needs(rule.logic)}
    return kinds - {Matches}


def _per_target(kind: type[Any]) -> bool:
    provider = providers().get(kind)
    return kind.__name__ == "Target" or (provider is not None and provider.per_target)


def _decide(decision: Decision, compiled: Callable[[], Condition | None], facts: Facts, scan: Scan) -> _Answer:
    matches: tuple[Match, ...] = ()
    if decision.signature is not None:
        if not scan.lines:
            return _Answer(missing=(NO_LOG,))
        matches = hits(decision.signature, scan)
        if not matches:
            return _Answer()
    trace = Trace()
    condition = compiled()
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
    wanted = decision.wanted or ("" if matches else "; ".join(f"{name} not {told}" for name, told, _ in trace.held if told[:1] in _COMPARED))
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


_COMPARED = frozenset("<>=!")
"""How a comparison begins: only its contrary says what is wanted; of words it would read as a riddle."""


def _template(text: str, facts: Facts) -> str:
    """Fills `{field.name}` with what the facts say."""
    parts = text.split("{")
    for index, part in enumerate(parts[1:], 1):
        name, brace, rest = part.partition("}")
        if brace:
            parts[index] = (shown(read_field(name, facts)) or "unknown") + rest
    return "".join(parts)


def _logic_way(rule: Rule) -> _Way:
    assert rule.logic is not None
    wanted = needs(rule.logic)
    kinds = [need.kind for need in wanted if need.kind is not Matches]
    return _Way(lambda facts, scan: _reason(rule, wanted, facts, scan), bool(kinds), lambda: any(_per_target(kind) for kind in kinds))


def _reason(rule: Rule, wanted: Sequence[Need], facts: Facts, scan: Scan) -> _Answer:
    """Calls the rule's logic with what is known; where there is nothing at all for it to see, it is neither imported nor called."""
    given: dict[str, Any] = {}
    missing: list[str] = []
    unknown: list[str] = []
    for need in wanted:
        fact = Matches(scan, rule.patterns) if need.kind is Matches else facts.get(need.kind)
        if isinstance(fact, Unavailable):
            (unknown if need.optional else missing).append(str(fact))
        given[need.parameter] = None if isinstance(fact, Unavailable) else fact
    if missing:
        return _Answer(missing=tuple(missing))
    seen = [value for value in given.values() if value is not None and not isinstance(value, Matches)]
    if wanted and not seen and not any(isinstance(value, Matches) and value.any() for value in given.values()):
        looked = scan.lines and any(need.kind is Matches for need in wanted)
        return _Answer() if looked else _Answer(missing=tuple(unknown) or (NO_LOG,))
    assert rule.logic is not None
    try:
        return _Answer(tuple(rule.logic(**given) or ()))
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


def _strength(rule: Rule, hit: Hit) -> tuple[bool, int, int, int]:
    """A mere note, however sure, does not outdo a failure that is likely."""
    severity = hit.severity or rule.severity
    return severity is not Severity.NOTE, (hit.confidence or Confidence.SURE), severity, hit.basis


def _finding(rule: Rule, hit: Hit, facts: FactSet, several: bool) -> Finding:
    confidence = hit.confidence or Confidence.SURE
    values = {**template_values(facts.facts, rule), **hit.values}

    def filled(words: Words) -> Words:
        return told(words.filled(values))

    return Finding(
        rule=rule.id,
        severity=hit.severity or rule.severity,
        confidence=confidence,
        title=filled(rule.title),
        why=filled(rule.why),
        subject=hit.subject or (facts.label if several else ""),
        found=hit.found,
        wanted=filled(Words(hit.wanted, hit.wanted)).en,
        evidence=hit.evidence[:12],
        fixes=tuple(
            replace(
                fix,
                title=filled(fix.title),
                steps=tuple(replace(step, text=filled(step.text)) for step in fix.steps),
                verify=filled(fix.verify) if fix.verify else None,
                do=tuple(filled_action(action, values) for action in fix.do),
            )
            for fix in rule.fixes
        ),
        decide=filled(rule.undecided) if rule.undecided and confidence is not Confidence.SURE else None,
        basis=hit.basis,
        position=hit.position,
    )


__all__ = ["FactSet", "facts_judged", "facts_read", "judge", "run"]
