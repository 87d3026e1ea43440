"""TAP version 13: one line a rule, with what was found as comments below it; no text from outside can begin a line or hold a directive."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.locale import speaker
from doctor.report.entries import Entry, State, entries, parts
from doctor.report.model import Report
from doctor.text import clean_line


def render(report: Report) -> str:
    """The whole stream."""
    return "".join(line + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    found = entries(report)
    yield "TAP version 13"
    yield f"1..{len(found) + len(report.problems)}"
    for number, entry in enumerate(found, 1):
        yield from _entry(number, entry, report.run.language)
    for number, problem in enumerate(report.problems, len(found) + 1):
        yield f"not ok {number} - input"
        yield f"# {_text(problem)}"


def _entry(number: int, entry: Entry, language: str) -> Iterator[str]:
    head = f"{number} - {entry.name}"
    if entry.state in (State.SKIP, State.SUPPRESSED):
        yield f"ok {head} # SKIP {_text(entry.why)}"
        return
    yield f"{'not ok' if entry.counts or entry.state is State.BROKEN else 'ok'} {head}"
    if entry.state is State.BROKEN:
        yield f"# BROKEN {_text(entry.why)}"
    for item in entry.told:
        yield f"# {item.severity.name}: {_text(item.finding.title[language])}"
        for label, text in parts(item.finding, language, speaker(language)):
            yield f"#   {label}: {_text(text)}"


def _text(text: str) -> str:
    return clean_line(text).replace("#", "\\#")[:1000]


__all__ = ["render"]
