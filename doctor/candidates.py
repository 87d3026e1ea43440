"""Which look-alikes of a cause were ruled out, and by what. Judges nothing anew: it reads the verdicts and says what decided them.

Contract: a candidate is a rule that the cause's file names as related, or whose own signature matches a line of the cause's evidence. Only
one whose verdict is CLEAR was ruled out; one that could not look stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.checkup import NO_LOG
from doctor.conditions import known_condition, shown
from doctor.diagnosis import Cause
from doctor.facts import Facts
from doctor.fields import read_field
from doctor.finding import Outcome, Verdict
from doctor.logscan.scan import Match, Scan
from doctor.logscan.signature import hits, ordered
from doctor.record import dataclass
from doctor.rule import Decision, Rule, Signature
from doctor.words import Words

MOST = 8
"""Candidates that are told of one cause."""

LONGEST = 200
"""Characters of what decided."""


@dataclass(frozen=True)
class Candidate:
    """A rule that might have been the cause. `ruled_out`: its verdict is CLEAR; otherwise it could not look. `by` says what decided."""

    rule: Rule
    ruled_out: bool
    by: Words


def candidates(cause: Cause, rules: Mapping[str, Rule], verdicts: Mapping[str, Verdict], facts: Facts, scan: Scan) -> tuple[Candidate, ...]:
    """The look-alikes of the cause that were not found: those that were ruled out first."""
    found = {cause.finding.rule, *(symptom.rule for symptom in cause.symptoms)}
    told = []
    for rule in _alike(cause, rules, scan):
        verdict = verdicts.get(rule.id)
        if rule.id in found or verdict is None or verdict.outcome in (Outcome.FOUND, Outcome.BROKEN):
            continue
        clear = verdict.outcome is Outcome.CLEAR
        if not clear and NO_LOG in verdict.why and not scan.lines:
            continue  # hundreds of rules only want a log
        by = _what_decided(rule, facts, scan) if clear else Words(verdict.why[:LONGEST], verdict.why[:LONGEST])
        told.append(Candidate(rule, clear, by))
    told.sort(key=lambda candidate: not candidate.ruled_out)
    return tuple(told[:MOST])


def _alike(cause: Cause, rules: Mapping[str, Rule], scan: Scan) -> Iterator[Rule]:
    """Each rule once: those that match the same lines, then those that the file names."""
    seen = {cause.rule.id}
    lines = {(item.source, item.first) for item in cause.finding.evidence if item.first}
    same = [rule for rule in rules.values() if lines and any((match.source, match.line) in lines for match in _matches(rule, scan))]
    for rule in (*same, *(rules[name] for name in cause.rule.related if name in rules)):
        if rule.id not in seen:
            seen.add(rule.id)
            yield rule


def _matches(rule: Rule, scan: Scan) -> Iterator[Match]:
    patterns = [pattern for decision in rule.decisions if decision.signature for pattern in decision.signature.patterns]
    patterns += [pattern for group in rule.patterns.values() for pattern in group]
    yield from ordered(scan, patterns)


def _what_decided(rule: Rule, facts: Facts, scan: Scan) -> Words:
    for decision in rule.decisions:
        said = _of_decision(decision, facts, scan)
        if said is not None:
            return said
    if rule.logic is None and scan.lines:
        return Words("none of its messages is in the log", "日志中没有它的特征信息")
    return Words("its facts are as they should be", "相关信息均正常")


def _of_decision(decision: Decision, facts: Facts, scan: Scan) -> Words | None:
    signature = decision.signature
    if signature is not None:
        matches = ordered(scan, signature.patterns)
        if not matches:
            return None
        if not hits(signature, scan):
            return _around(signature, scan)
    if decision.when is None:
        return None
    condition = known_condition(decision.when)
    if condition.evaluate(facts) is not False:
        return None
    readings = {name: read_field(name, facts) for name in condition.fields}
    said = "; ".join(f"{name} = {shown(reading)}" for name, reading in readings.items() if reading.values is not None)[:LONGEST]
    return Words(said, said) if said else None


def _around(signature: Signature, scan: Scan) -> Words:
    """Why a line that matches is no evidence."""
    for near in signature.unless:
        for match in ordered(scan, near.patterns):
            return Words(f"line {match.line} speaks against it: {match.text[:120]}", f"第 {match.line} 行与之不符：{match.text[:120]}")
    return Words("its line is there, but not what must stand around it", "出现了它的特征行，但缺少应同时出现的内容")


__all__ = ["Candidate", "candidates"]
