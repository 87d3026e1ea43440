"""The report of an examination as one JSON object, by the schema that `doctor schema` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.diagnosis import Cause
from doctor.errorcodes import meanings
from doctor.finding import Evidence, Finding, Suppressed, Verdict
from doctor.firsterror import FirstError
from doctor.fix import Fix
from doctor.report.envelope import dumps, envelope
from doctor.report.model import HostSummary, Report, Summary
from doctor.rule import Rule


def render(report: Report) -> str:
    """The whole report."""
    run, language, rules = report.run, report.run.language, report.examination.book.rules
    whole = envelope(run.command, run.started, language, report.exit_code)
    whole["run"] |= {
        "seconds": round(report.examination.seconds, 4),
        "selection": {"only": list(run.selection.only), "skip": list(run.selection.skip)},
        "fail_on": run.fail_on,
        "problems": list(report.problems),
    }
    whole["host"] = _host(report.host)
    whole["summary"] = _summary(report.summary, len(report.examination.causes))
    whole["causes"] = [cause_json(cause, language, rules) for cause in report.examination.causes]
    whole["verdicts"] = [_verdict(verdict) for verdict in report.examination.verdicts]
    if report.suppressed:
        whole["suppressed"] = [_suppressed(item, language, rules) for item in report.suppressed]
    error = report.examination.first_error
    whole["first_error"] = first_error_json(error, language) if error else None
    if report.recorded:
        whole["recorded"] = report.recorded
    return dumps(whole)


def _suppressed(item: Suppressed, language: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    return {**_finding(item.finding, language, rules), "by": item.by, "reason": item.reason, "until": item.until or None}


def first_error_json(error: FirstError, language: str) -> dict[str, Any]:
    return {
        "type": error.kind,
        "evidence": _evidence(error.evidence),
        "codes": [{"code": code, "meaning": meaning[language]} for code, meaning in meanings(error.codes)],
        "others": error.others,
    }


def _summary(summary: Summary, causes: int) -> dict[str, int]:
    return {"rules": summary.rules, **summary.outcomes, **summary.severities, "causes": causes, "symptoms": summary.symptoms}


def _host(host: HostSummary) -> dict[str, Any]:
    return {
        "label": host.label, "kind": host.kind, "os": host.os, "kernel": host.kernel, "arch": host.arch, "cpu": host.cpu,
        "container": host.container, "npu_present": host.npu_present,
        "npus": [{"name": name, "count": count} for name, count in host.npus],
        "driver": host.driver, "firmware": host.firmware, "cann": host.cann,
        "targets": [
            {"python": target.python, "how": target.how, "version": target.version, "packages": dict(target.packages)} for target in host.targets
        ],
    }  # fmt: skip


def cause_json(cause: Cause, language: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    finding = cause.finding
    return {
        **_finding(finding, language, rules),
        "why": finding.why[language],
        "decide": finding.decide[language] if finding.decide else None,
        "fixes": [_fix(fix, language) for fix in finding.fixes],
        "references": list(cause.rule.references),
        "symptoms": [_finding(symptom, language, rules) for symptom in cause.symptoms],
    }


def _finding(finding: Finding, language: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    rule = rules[finding.rule]
    return {
        "rule": finding.rule,
        "formerly": list(rule.formerly),
        "area": rule.area,
        "role": rule.role.value,
        "severity": finding.severity.word,
        "confidence": finding.confidence.word,
        "title": finding.title[language],
        "subject": finding.subject,
        "found": finding.found,
        "wanted": finding.wanted,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "source": evidence.source, "line": evidence.line, "text": evidence.text,
        "first": evidence.first, "last": evidence.last, "count": evidence.count,
    }  # fmt: skip


def _fix(fix: Fix, language: str) -> dict[str, Any]:
    return {
        "id": fix.id,
        "title": fix.title[language],
        "safety": fix.safety.value,
        "steps": [step.text[language] for step in fix.steps],
        "verify": fix.verify[language] if fix.verify else None,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {"rule": verdict.rule, "outcome": verdict.outcome.value, "why": verdict.why, "seconds": round(verdict.seconds, 6)}
