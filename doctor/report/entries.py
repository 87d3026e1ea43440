"""A report as one entry a rule, for the formats of pipelines: what became of each rule, and whether it fails the run.

Contract: an entry fails exactly where the exit code of the report counts it, so that no format tells another story than the exit code.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

from doctor.finding import Finding, Outcome, Severity
from doctor.locale import Speak
from doctor.record import dataclass
from doctor.report.model import THRESHOLDS, Report
from doctor.report.style import short
from doctor.said import said
from doctor.text import clean, clean_line

EVIDENCE_SHOWN, TEXT_LENGTH = 3, 400
"""Pieces of evidence of one finding, and characters of each text: a pipeline's page is no place for a log."""


class State(enum.Enum):
    """What became of one rule, in the words of the reports."""

    FAIL = "FAIL"
    WARN = "WARN"
    NOTE = "NOTE"
    PASS = "pass"
    SKIP = "SKIP"
    SUPPRESSED = "suppressed"
    BROKEN = "BROKEN"


@dataclass(frozen=True)
class Told:
    """One finding of an entry. `cause` is the id of the cause that it follows from, "" where it is a cause itself."""

    finding: Finding
    severity: Severity
    cause: str = ""


@dataclass(frozen=True)
class Entry:
    """One rule. `counts`: the exit code is 1 because of it (among others); `why` is the reason of a skip or the traceback."""

    name: str
    area: str
    title: str
    state: State
    counts: bool = False
    told: tuple[Told, ...] = ()
    why: str = ""
    seconds: float = 0.0


def entries(report: Report) -> tuple[Entry, ...]:
    """Every verdict of the report, in its order."""
    told = _told(report)
    suppressed = {
        finding.rule: item.why(report.run.language) for item in report.suppressed for finding in (*item.symptoms, item.finding)
    }
    found = []
    for verdict in report.examination.verdicts:
        rule = report.examination.book.rules.get(verdict.rule)
        title = rule.title[report.run.language] if rule else verdict.rule
        of_rule = told.get(verdict.rule, ())
        state, why = _state(verdict.outcome, verdict.why, of_rule, suppressed.get(verdict.rule))
        found.append(Entry(verdict.rule, rule.area if rule else "", clean(title), state, counts(report, of_rule), of_rule, clean(why), verdict.seconds))
    return tuple(found)


def counts(report: Report, told: tuple[Told, ...]) -> bool:
    """True where a cause among these is at or above `--fail-on`, as `doctor.report.model.exit_code` counts."""
    threshold = THRESHOLDS[report.run.fail_on]
    return threshold is not None and any(item.severity >= threshold for item in told if not item.cause)


def _told(report: Report) -> dict[str, tuple[Told, ...]]:
    grouped: dict[str, list[Told]] = {}
    for cause in report.examination.causes:
        grouped.setdefault(cause.finding.rule, []).append(Told(cause.finding, cause.finding.severity))
        for symptom in cause.symptoms:
            grouped.setdefault(symptom.rule, []).append(Told(symptom, symptom.severity, cause.finding.rule))
    return {name: tuple(items) for name, items in grouped.items()}


def _state(outcome: Outcome, why: str, told: tuple[Told, ...], suppressed: str | None) -> tuple[State, str]:
    if outcome is Outcome.BROKEN:
        return State.BROKEN, why
    if told:
        return State[max(item.severity for item in told).name], why
    if suppressed is not None:
        return State.SUPPRESSED, suppressed
    return (State.SKIP, why) if outcome is Outcome.SKIPPED else (State.PASS, "")


def parts(finding: Finding, language: str, speak: Speak) -> Iterator[tuple[str, str]]:
    """(label, text) of what a finding says beside its title, as far as it says it; every text is one cleaned line."""
    for key, text in (("subject", finding.subject), ("found", said(finding.found, language)), ("wanted", said(finding.wanted, language))):
        if text:
            yield speak(key), short(text, TEXT_LENGTH)
    for item in finding.evidence[:EVIDENCE_SHOWN]:
        where = short(item.source, 200) + (f":{item.line}" if item.line else "")
        yield speak("seen"), f"{where}  {short(item.text, TEXT_LENGTH)}"
    yield speak("why"), clean_line(finding.why[language])
    if finding.decide is not None:
        yield speak("decide"), clean_line(finding.decide[language])
    for fix in finding.fixes:
        yield speak("todo"), clean_line(fix.title[language])


__all__ = ["Entry", "State", "Told", "counts", "entries", "parts"]
