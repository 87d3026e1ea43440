"""What a site decided about causes: severities of its own, and findings that it does not count, by configuration or by baseline.

Contract: nothing is hidden. A suppressed finding leaves the causes, is told apart in every format with who suppressed it and why, and
counts again the day after its last one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from fnmatch import fnmatchcase

from doctor.diagnosis import Cause, diagnose
from doctor.examine import Examination
from doctor.finding import Finding, Severity, Suppressed, Verdict
from doctor.fingerprint import fingerprint, fingerprints
from doctor.record import dataclass
from doctor.rule import Rule

BASELINE_VERSION = 1


@dataclass(frozen=True)
class Suppression:
    """One entry of a configuration: `rule` and `subject` are globs, `subject` "" is any; `until` is the last day, None for no end."""

    rule: str
    reason: str
    subject: str = ""
    until: date | None = None


@dataclass(frozen=True)
class Policy:
    """All decisions. `origin` and `baseline_origin` name the files that they come from."""

    severities: Mapping[str, Severity] = field(default_factory=dict)
    """Glob of rule ids -> severity; the last one that fits wins."""
    suppressions: tuple[Suppression, ...] = ()
    origin: str = ""
    baseline: frozenset[str] = frozenset()
    baseline_origin: str = ""

    @property
    def empty(self) -> bool:
        return not (self.severities or self.suppressions or self.baseline)


def judge(examination: Examination, policy: Policy, today: date) -> tuple[Examination, tuple[Suppressed, ...]]:
    """The examination with the site's severities and without what the site suppressed, and the suppressed findings."""
    if policy.empty:
        return examination, ()
    rules = examination.book.rules
    verdicts = tuple(_severed(verdict, rules, policy.severities) for verdict in examination.verdicts)
    causes = diagnose(verdicts, rules) if policy.severities else examination.causes
    kept, suppressed = [], []
    for cause in causes:
        found = _suppressed(cause, policy, today)
        if found is None:
            kept.append(cause)
        else:
            suppressed.append(found)
    return replace(examination, verdicts=verdicts, causes=tuple(kept)), tuple(suppressed)


def _severed(verdict: Verdict, rules: Mapping[str, Rule], severities: Mapping[str, Severity]) -> Verdict:
    rule = rules.get(verdict.rule)
    fitting = [severity for glob, severity in severities.items() if rule is not None and _named(rule, glob)]
    if not fitting or not verdict.findings:
        return verdict
    return replace(verdict, findings=tuple(replace(finding, severity=fitting[-1]) for finding in verdict.findings))


def _suppressed(cause: Cause, policy: Policy, today: date) -> Suppressed | None:
    finding, rule = cause.finding, cause.rule
    for item in policy.suppressions:
        if item.until is not None and item.until < today:
            continue
        if _named(rule, item.rule) and (not item.subject or fnmatchcase(finding.subject, item.subject)):
            return Suppressed(finding, policy.origin, item.reason, item.until.isoformat() if item.until else "", cause.symptoms)
    if policy.baseline.intersection(fingerprints(rule, finding.subject)):
        return Suppressed(finding, policy.baseline_origin, symptoms=cause.symptoms)
    return None


def _named(rule: Rule, glob: str) -> bool:
    return any(fnmatchcase(name, glob) for name in (rule.id, *rule.formerly))


def write_baseline(causes: Iterable[Cause], version: str) -> str:
    """The text of a baseline: one fingerprint a cause, with its rule and subject for the people who review it."""
    entries = {fingerprint(cause.finding.rule, cause.finding.subject): _entry(cause.finding) for cause in causes}
    whole = {"baseline_version": BASELINE_VERSION, "tool": f"ascend-doctor {version}", "causes": dict(sorted(entries.items(), key=lambda item: item[1]["rule"]))}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def _entry(finding: Finding) -> dict[str, str]:
    return {"rule": finding.rule, "subject": finding.subject, "severity": finding.severity.word}


class BadBaseline(ValueError):
    """The text is no baseline; says what is wrong."""


def read_baseline(text: str) -> frozenset[str]:
    """The fingerprints of a baseline. Raises `BadBaseline`."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadBaseline(f"no JSON: {problem}") from None
    if not isinstance(whole, dict) or not isinstance(whole.get("causes"), dict):
        raise BadBaseline("it has no `causes`")
    if whole.get("baseline_version") != BASELINE_VERSION:
        raise BadBaseline(f"baseline_version is {whole.get('baseline_version')!r}, not {BASELINE_VERSION}")
    return frozenset(str(mark) for mark in whole["causes"])


def expired(suppressions: Sequence[Suppression], today: date) -> tuple[Suppression, ...]:
    """Those whose last day is over."""
    return tuple(item for item in suppressions if item.until is not None and item.until < today)


__all__ = ["BadBaseline", "Policy", "Suppression", "expired", "judge", "read_baseline", "write_baseline"]
