"""SARIF 2.1.0 for GitHub's code scanning and other readers of it: one result a cause, every rule that ran with its help.

Code scanning wants a place in the repository: see `doctor.report.gitlab.place`. `security-severity` is left out on purpose: a missing
operator is no security alert. Suppressed findings are there with their suppression. `informationUri` is left out until the project has an
address, and `versionControlProvenance`, since a machine is in no repository; `@microsoft/sarif-multitool validate` (5.7, its own rules and
GitHub's) has no error.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from doctor import __version__
from doctor.finding import Confidence, Finding, Outcome, Severity, Suppressed
from doctor.fingerprint import fingerprint
from doctor.locale import Speak, speaker
from doctor.report.entries import parts
from doctor.report.gitlab import NO_FILE, place
from doctor.report.model import Report
from doctor.rule import Rule
from doctor.text import clean, clean_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

SNIPPET = 400
"""Characters of the line that is shown."""

_LINK = re.compile(r"https://[\x21-\x7e]+")
_LEVELS = {Severity.FAIL: "error", Severity.WARN: "warning", Severity.NOTE: "note"}
_PROBLEMS = {Severity.FAIL: "error", Severity.WARN: "warning", Severity.NOTE: "recommendation"}
_PRECISION = {Confidence.SURE: "very-high", Confidence.LIKELY: "high", Confidence.POSSIBLE: "medium"}


def render(report: Report) -> str:
    """One log with one run."""
    language, speak = report.run.language, speaker(report.run.language)
    examination = report.examination
    ran = [rule for verdict in examination.verdicts if (rule := examination.book.rules.get(verdict.rule)) is not None]
    index = {rule.id: number for number, rule in enumerate(ran)}
    results = [_result(cause.finding, place(cause), language, speak, index) for cause in examination.causes]
    results += [_suppressed(item, language, speak, index) for item in report.suppressed]
    broken = [_notification(f"{verdict.rule}: {clean(verdict.why).strip()}") for verdict in examination.verdicts if verdict.outcome is Outcome.BROKEN]
    broken += [_notification(clean(problem)) for problem in report.problems]
    run = {
        "tool": {"driver": {"name": "ascend-doctor", "version": __version__, "semanticVersion": __version__, "rules": [_rule(rule, language) for rule in ran]}},
        "automationDetails": {"id": f"doctor/{quote(clean_line(report.host.label) or 'host', safe='')}/"},
        "invocations": [{"executionSuccessful": not broken, "exitCode": report.exit_code, "toolExecutionNotifications": broken}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2) + "\n"


def _rule(rule: Rule, language: str) -> dict[str, Any]:
    title, why = clean_line(rule.title[language])[:1000], clean_line(rule.why[language])[:1000]
    link = next((each for each in rule.references if _LINK.fullmatch(each)), None)
    return {
        "id": rule.id,
        "name": "".join(word[:1].upper() + word[1:] for word in rule.id.split("-")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": why},
        "help": {"text": f"{why}\n\ndoctor explain {rule.id}"},
        **({"helpUri": link} if link else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.area], "precision": "high", "problem.severity": _PROBLEMS[rule.severity]},
    }


def _result(finding: Finding, where: tuple[str, int], language: str, speak: Speak, index: dict[str, int]) -> dict[str, Any]:
    path, line = where
    seen = next((clean_line(item.text) for item in finding.evidence if item.line == line and clean(item.source).removeprefix("./") == path), "")
    region = {"startLine": line, **({"snippet": {"text": seen[:SNIPPET]}} if seen else {})}
    text = "\n".join([clean_line(finding.title[language]), *(f"{label}: {part}" for label, part in parts(finding, language, speak))])
    numbered = {"ruleIndex": index[finding.rule]} if finding.rule in index else {}
    return {
        "ruleId": finding.rule,
        **numbered,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(path)}, "region": region}}],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint(finding.rule, finding.subject)},
        "properties": {"precision": _PRECISION[finding.confidence]},
    }


def _suppressed(item: Suppressed, language: str, speak: Speak, index: dict[str, int]) -> dict[str, Any]:
    suppression = {"kind": "external", "justification": clean_line(item.why(language))}
    return {**_result(item.finding, (NO_FILE, 1), language, speak, index), "suppressions": [suppression]}


def _notification(text: str) -> dict[str, Any]:
    return {"level": "error", "message": {"text": text[:4000]}}


__all__ = ["SCHEMA", "render"]
