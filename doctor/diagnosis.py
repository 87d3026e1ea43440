"""Groups findings into causes with their symptoms, and puts the most likely cause first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from doctor.finding import Basis, Confidence, Finding, Severity, Verdict
from doctor.record import dataclass
from doctor.rule import Role, Rule

_ROLE_ORDER = {Role.CAUSE: 0, Role.SYMPTOM: 1, Role.WRAPPER: 2}

_BASIS_ORDER = {Basis.BOTH: 0, Basis.LOG: 1, Basis.FACTS: 2}
"""Of equals, what was seen to fail precedes what only does not fit."""


@dataclass(frozen=True)
class Cause:
    """One cause and the findings that it explains."""

    finding: Finding
    rule: Rule
    symptoms: tuple[Finding, ...] = ()


def diagnose(verdicts: Iterable[Verdict], rules: Mapping[str, Rule]) -> tuple[Cause, ...]:
    """The causes, most important first: severity, then confidence, then what it rests on, then the earliest in the log."""
    findings = sorted((finding for verdict in verdicts for finding in verdict.findings), key=lambda finding: _order(finding, rules))
    parents = {index: _parent(finding, findings, rules) for index, finding in enumerate(findings)}
    roots = {index: _root(index, parents, findings, rules) for index in parents}
    children: dict[int, list[Finding]] = {}
    for index, finding in enumerate(findings):
        root = roots[index]
        if root != index:
            children.setdefault(root, []).append(finding)
    causes = [_cause(findings[index], children.get(index, []), rules) for index in range(len(findings)) if roots[index] == index]
    return tuple(sorted(causes, key=lambda cause: _order(cause.finding, rules)))


def _order(finding: Finding, rules: Mapping[str, Rule]) -> tuple[int, int, int, int, int, str]:
    role = _ROLE_ORDER[rules[finding.rule].role]
    certainty = -finding.confidence
    if finding.severity is Severity.NOTE and finding.basis is Basis.FACTS:
        certainty += len(Confidence)  # a remark about the machine does not precede what the log says
    return -finding.severity, role, certainty, _BASIS_ORDER[finding.basis], finding.position, finding.rule


def _cause(finding: Finding, symptoms: list[Finding], rules: Mapping[str, Rule]) -> Cause:
    """A cause is at least as severe as what follows from it."""
    worst = max((symptom.severity for symptom in symptoms), default=finding.severity)
    if worst > finding.severity and finding.severity is not Severity.NOTE:
        finding = replace(finding, severity=worst)
    return Cause(finding, rules[finding.rule], tuple(symptoms))


def _parent(finding: Finding, findings: Sequence[Finding], rules: Mapping[str, Rule]) -> int | None:
    """The finding that explains this one: one that names it, else (for a symptom) the first real cause in the log."""
    rule = rules[finding.rule]
    named = [
        index
        for index, other in enumerate(findings)
        if other.rule != finding.rule
        and (finding.rule in rules[other.rule].explains or other.rule in rule.yields_to)
        and not (other.confidence is Confidence.POSSIBLE and finding.confidence is Confidence.SURE and rule.role is Role.CAUSE)
    ]
    return named[0] if named else _first_real(finding, findings, rules)


def _first_real(finding: Finding, findings: Sequence[Finding], rules: Mapping[str, Rule]) -> int | None:
    """For a symptom or a wrapper that a log shows: the first finding of a better role that the log shows too."""
    rule = rules[finding.rule]
    if rule.role is Role.CAUSE or finding.basis is Basis.FACTS:
        return None
    mine = _ROLE_ORDER[rule.role]
    for index, other in enumerate(findings):
        better = _ROLE_ORDER[rules[other.rule].role] < mine
        if better and other.basis is not Basis.FACTS and other.severity is not Severity.NOTE and not _follows(other, finding, rules):
            return index
    return None


def _follows(finding: Finding, other: Finding, rules: Mapping[str, Rule]) -> bool:
    """Whether `finding` itself is explained by `other`, so that it cannot be what `other` stands under."""
    return finding.rule in rules[other.rule].explains or other.rule in rules[finding.rule].yields_to


def _root(index: int, parents: Mapping[int, int | None], findings: Sequence[Finding], rules: Mapping[str, Rule]) -> int:
    """The end of the chain of parents; where rules explain each other in a ring, the real cause beside it, else the first of the ring."""
    seen = [index]
    while (parent := parents[seen[-1]]) is not None:
        if parent in seen:
            ring = seen[seen.index(parent) :]
            beside = _first_real(findings[min(ring)], findings, rules)
            if beside is None or beside in seen:
                return min(ring)
            parent = beside
        seen.append(parent)
    return seen[-1]
