"""Workflow commands of GitHub Actions: one annotation a cause, the worst first, and everything that is data escaped.

GitHub shows ten annotations of a kind in a step: the rest are counted in the last line, which is no command. A line of a log can never
become a command, since every line here begins with our own, and line ends and `%` within it are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.locale import speaker
from doctor.report.entries import parts
from doctor.report.model import Report
from doctor.text import clean, clean_line

SHOWN = 10
"""Annotations of one kind in a step (docs.github.com, limits of annotations)."""

_COMMANDS = {"FAIL": "error", "WARN": "warning", "NOTE": "notice"}


def render(report: Report) -> str:
    """One command a line."""
    return "".join(line + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    language, speak = report.run.language, speaker(report.run.language)
    said = dict.fromkeys(_COMMANDS.values(), 0)
    for cause in report.examination.causes:
        finding = cause.finding
        command = _COMMANDS[finding.severity.name]
        said[command] += 1
        if said[command] > SHOWN:
            continue
        text = "\n".join([clean_line(finding.title[language]), *(f"{label}: {part}" for label, part in parts(finding, language, speak))])
        yield f"::{command} title={_property(f'{finding.severity.name} {finding.rule}')}::{_data(text)}"
    for verdict in report.examination.verdicts:
        if verdict.outcome.value == "broken":
            yield f"::error title={_property(f'BROKEN {verdict.rule}')}::{_data(clean(verdict.why).strip().rpartition(chr(10))[2])}"
    for problem in report.problems:
        yield f"::error title=input::{_data(clean(problem))}"
    hidden = sum(max(0, count - SHOWN) for count in said.values())
    counts = {**report.summary.outcomes, **report.summary.severities}
    yield _data("ascend-doctor: " + speak("totals", rules=report.summary.rules, seconds=report.examination.seconds, **counts) + (f" (+{hidden})" if hidden else ""))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


__all__ = ["render"]
