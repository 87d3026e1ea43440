"""The report as Markdown, for a job's summary or an issue: a table of causes, then each with its evidence.

Contract: text from outside stands in a cell with every mark of Markdown escaped, or in a fence longer than any run of backticks in it;
no line of a log can open a heading, a link, an image, a mention or a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doctor.diagnosis import Cause
from doctor.finding import Evidence
from doctor.fix import Fix
from doctor.locale import Speak, speaker
from doctor.report import machine
from doctor.report.model import Report
from doctor.report.style import short
from doctor.said import said
from doctor.text import clean, clean_line

LIMIT = 900_000
"""Characters: GitHub refuses a job summary above 1 MiB."""

_MARK = re.compile(r"([\\`*_{}\[\]()#+!|~<>&@:-])")


def render(report: Report) -> str:
    """The whole page, cut off with a word where it would be too long."""
    text = "".join(line + "\n" for line in _lines(report))
    return text if len(text) <= LIMIT else text[:LIMIT] + "\n…\n"


def cell(text: str) -> str:
    """Text from outside as part of a line."""
    return _MARK.sub(r"\\\1", clean_line(text))


def code(text: str) -> str:
    """Text from outside within a line, in backticks."""
    line = clean_line(text).replace("|", "¦")
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def fence(lines: Sequence[str], kind: str = "text") -> Iterator[str]:
    """Text from outside as a block."""
    ticks = "`" * max(3, max((_longest_run(line) for line in lines), default=0) + 1)
    yield ticks + kind
    yield from (clean(line) for line in lines)
    yield ticks


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _lines(report: Report) -> Iterator[str]:
    speak, language = speaker(report.run.language), report.run.language
    yield f"### ascend-doctor: {cell(machine.line(report, speak))}"
    yield ""
    if report.examination.causes:
        yield f"| {speak('state')} | {speak('rule')} | {speak('cause')} | {speak('found')} |"
        yield "| --- | --- | --- | --- |"
        for cause in report.examination.causes:
            finding = cause.finding
            yield f"| {speak(finding.severity.name)} | {code(finding.rule)} | {cell(finding.title[language])} | {cell(short(said(finding.found, language), 200))} |"
    else:
        yield machine.nothing(report, speak)
    for cause in report.examination.causes:
        yield ""
        yield from _cause(cause, speak, language)
    yield from _unknown(report, speak)
    yield ""
    yield machine.totals(report, speak)
    yield from (f"- {speak('BROKEN')}: {cell(problem)}" for problem in report.problems)


def _cause(cause: Cause, speak: Speak, language: str) -> Iterator[str]:
    finding = cause.finding
    yield f"<details><summary>{speak(finding.severity.name)} {finding.rule}</summary>"
    yield ""
    yield f"**{cell(finding.title[language])}**"
    yield ""
    for key, text in (("subject", finding.subject), ("found", said(finding.found, language)), ("wanted", said(finding.wanted, language))):
        if text:
            yield f"- {speak(key)}: {code(short(text, 600))}"
    yield f"- {speak('why')}: {cell(finding.why[language])}"
    if finding.decide is not None:
        yield f"- {speak('decide')}: {cell(finding.decide[language])}"
    for symptom in cause.symptoms:
        yield f"- {speak('explains')}: {cell(symptom.title[language])} ({code(symptom.rule)})"
    yield ""
    if finding.evidence:
        yield from fence([_seen(item) for item in finding.evidence[:10]])
        yield ""
    for fix in finding.fixes:
        yield from _fix(fix, speak, language)
    yield "</details>"


def _seen(item: Evidence) -> str:
    return short(item.source, 200) + (f":{item.line}" if item.line else "") + "  " + short(item.text, 400)


def _fix(fix: Fix, speak: Speak, language: str) -> Iterator[str]:
    yield f"{speak('todo')}: {cell(fix.title[language])} ({speak(fix.safety.value)})"
    yield ""
    commands: list[str] = []
    for step in fix.steps:
        words = step.text
        if words.en == words.zh:
            commands.append(clean(words.en))
            continue
        yield from fence(commands, "sh") if commands else ()
        commands = []
        yield f"1. {cell(words[language])}"
    yield from fence(commands, "sh") if commands else ()
    yield ""


def _unknown(report: Report, speak: Speak) -> Iterator[str]:
    error = report.examination.first_error
    if error is not None:
        yield ""
        yield speak("unknown_head")
        yield ""
        yield from fence([_seen(error.evidence)])


__all__ = ["LIMIT", "cell", "code", "fence", "render"]
