"""The detail of one row as styled text: what was found and wanted, why, the evidence, what to do.

Contract: text from outside is cleaned and never taken for markup: everything becomes `Content` from plain strings with styles of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from textual.content import Content

from doctor.locale import Speak
from doctor.report.style import Style, padded, short
from doctor.said import said
from doctor.text import cell_width, clean
from doctor.tui.rows import Row, told
from doctor.tui.words import speaker

if TYPE_CHECKING:
    from doctor.diagnosis import Cause
    from doctor.finding import Evidence, Finding
    from doctor.firsterror import FirstError
    from doctor.fix import Fix
    from doctor.report.model import Report
    from doctor.rule import Rule

STATE_STYLES = {
    "FAIL": "bold $text-error", "WARN": "bold $text-warning", "NOTE": "bold $text-primary", "ERROR": "bold $text-error",
    "BROKEN": "bold $text-secondary", "SKIP": "dim", "PASS": "dim",
}  # fmt: skip
"""The colour of a state is never alone: its word stands there."""

LABEL, TITLE, COMMAND, FAINT = "dim", "bold", "bold", "dim"

SIDE_BY_SIDE = 44
"""Cells from which on labels stand beside their text, not above it."""

WIDEST = 110

Line = Content


class Detail:
    """Makes the detail of rows for one width and language."""

    def __init__(self, report: Report | None, language: str, width: int) -> None:
        self.report, self.language = report, language
        self.speak: Speak = speaker(language)
        self.width = max(20, min(width, WIDEST))

    @cached_property
    def column(self) -> int:
        """Cells of the labels."""
        from doctor.report.text_format import LABELS

        if self.width < SIDE_BY_SIDE:
            return 2
        return max(cell_width(self.speak(label)) for label in (*LABELS, "reason", "links", "about", "ruled_out")) + 2

    def of(self, row: Row) -> Content:
        """The detail of a row."""
        return _joined(self._lines(row))

    def whole(self, row: Row) -> Content:
        """The same with what was ruled out: for a screen of its own, since that takes a look at every rule."""
        if row.cause is None or row.depth:
            return self.of(row)
        return Content("\n").join([self.of(row), *self._candidates(row.cause)])

    def summary(self, failure: str = "") -> Content:
        """What is told where no row is there: that nothing was found, and why rules could not look; or why there is no report."""
        return _joined(self._prose(self.speak("failed", why=failure), TITLE) if failure else self._summary())

    def _lines(self, row: Row) -> Iterator[Line]:
        if row.finding is not None:
            yield from self._finding(row, row.finding)
        elif row.error is not None:
            yield from self._error(row.error)
        elif row.verdict is not None:
            yield from self._verdict(row)
        else:
            yield from self._prose(row.text[self.language], TITLE)

    def _finding(self, row: Row, finding: Finding) -> Iterator[Line]:
        from doctor.report.text_format import fix_command

        yield from self._head(row.state, told(row, self.speak, self.language))
        for label, text in (("found", said(finding.found, self.language)), ("wanted", said(finding.wanted, self.language))):
            if text:
                yield from self._labelled(label, short(text, 2000))
        yield from self._labelled("why", finding.why[self.language])
        if finding.decide is not None:
            yield from self._labelled("decide", finding.decide[self.language])
        for index, fix in enumerate(finding.fixes):
            yield from self._fix("or_todo" if index else "todo", fix)
            if command := fix_command(finding, fix):
                yield from self._labelled("", self.speak("by_doctor", command=command), TITLE)
        yield from self._evidence(finding.evidence)
        if row.cause is not None:
            yield from self._chain(row)
        yield from self._rule(row.rule)

    def _chain(self, row: Row) -> Iterator[Line]:
        assert row.cause is not None
        if row.depth:
            yield from self._labelled("follows", f"{row.cause.finding.title[self.language]} [{row.cause.finding.rule}]")
            return
        for index, symptom in enumerate(row.cause.symptoms):
            yield from self._labelled("" if index else "explains", f"{short(symptom.title[self.language], 300)} [{symptom.rule}]")

    def _candidates(self, cause: Cause) -> Iterator[Line]:
        """What else it could have been, and what decided."""
        from doctor.candidates import candidates

        if self.report is None:
            return
        examination = self.report.examination
        verdicts = {verdict.rule: verdict for verdict in examination.verdicts}
        label = ""
        for index, other in enumerate(candidates(cause, examination.book.rules, verdicts, examination.facts, examination.scan)):
            if not index:
                yield Content("")
            key = "ruled_out" if other.ruled_out else "still_open"
            yield from self._labelled("" if key == label else key, f"{other.rule.title[self.language]} [{other.rule.id}]")
            yield from self._labelled("", "  " + short(other.by[self.language], 300), FAINT)
            label = key

    def _fix(self, label: str, fix: Fix) -> Iterator[Line]:
        yield Content("")
        yield from self._labelled(label, f"{fix.title[self.language]} [{self.speak(fix.safety.value)}]", TITLE)
        number = 0
        for step in fix.steps:
            if step.text.en == step.text.zh:  # a command: as it is typed, never wrapped by us
                yield from self._command(clean(step.text.en))
                continue
            number += 1
            yield from self._labelled("", f"{number}. {step.text[self.language]}")
        if fix.verify is not None:
            yield from self._labelled("verify", fix.verify[self.language])

    def _command(self, text: str) -> Iterator[Line]:
        """Further to the left where it would not fit beside the labels."""
        lines = text.split("\n")
        fits = max(map(cell_width, lines)) + self.column + 2 <= self.width
        yield from (Content.assemble(" " * (self.column + 2 if fits else 2), (line, COMMAND)) for line in lines)

    def _evidence(self, evidence: Sequence[Evidence]) -> Iterator[Line]:
        if evidence:
            yield Content("")
        for index, item in enumerate(evidence):
            where = short(item.source, 300) + (f":{item.line}" if item.line else "")
            times = f"  ({self.speak('times', count=item.count, first=item.first, last=item.last)})" if item.count > 1 else ""
            yield from self._labelled("" if index else "seen", where + times, FAINT)
            yield from self._labelled("", "  " + short(item.text, 1000))

    def _rule(self, name: str) -> Iterator[Line]:
        yield Content("")
        yield from self._labelled("rule", name)
        rule = self._rules.get(name)
        for index, link in enumerate(rule.references if rule else ()):
            yield from self._labelled("" if index else "links", link, FAINT)

    @property
    def _rules(self) -> dict[str, Rule]:
        return dict(self.report.examination.book.rules) if self.report else {}

    def _verdict(self, row: Row) -> Iterator[Line]:
        from doctor.finding import Outcome

        assert row.verdict is not None
        verdict, rule = row.verdict, self._rules.get(row.rule)
        yield from self._head(row.state, row.rule)
        if verdict.outcome is Outcome.CLEAR:
            yield from self._labelled("", self.speak("looked_clear"))
        else:
            skipped = verdict.outcome is Outcome.SKIPPED
            for index, reason in enumerate(clean(verdict.why).strip().split("; " if skipped else "\n")):
                yield from self._labelled("" if index else "reason", said(reason, self.language) if skipped else reason)
        if rule is not None:
            yield from self._labelled("about", rule.title[self.language])
            yield from self._labelled("why", rule.why[self.language])
        yield from self._labelled("took", f"{verdict.seconds:.3f} s")

    def _error(self, error: FirstError) -> Iterator[Line]:
        from doctor.errorcodes import meanings

        yield from self._head("ERROR", self.speak("unknown_head"))
        yield from self._evidence([error.evidence])
        if error.others:
            yield from self._labelled("", self.speak("unknown_others", count=error.others))
        for index, (code, meaning) in enumerate(meanings(error.codes)):
            yield from self._labelled("" if index else "unknown_codes", f"{code}: {meaning[self.language]}")
        yield from self._labelled("unknown_next", self.speak("unknown_next_plog"))
        yield from self._labelled("", self.speak("unknown_next_report"))

    def _summary(self) -> Iterator[Line]:
        if self.report is None:
            yield from self._prose(self.speak("still_running"))
            return
        from doctor.report import skips

        yield from self._prose(self._nothing(self.report), TITLE)
        if self.report.host.kind == "host" and self.report.host.npu_present is False:
            yield from self._prose(self.speak("no_npu", how=short(self.report.host.npu_how, 300)))
        verdicts = self.report.examination.verdicts
        reasons = list(skips.told(verdicts, self.speak))
        if reasons:
            yield Content("")
            yield Content.styled(self.speak("all_skipped"), LABEL)
            for reason in reasons:
                yield from self._prose("  " + reason)

    def _nothing(self, report: Report) -> str:
        kind, clear, lines = report.host.kind, report.summary.outcomes.get("clear", 0), report.examination.scan.lines
        if clear:
            return self.speak(f"nothing_found_{kind}", clear=clear, lines=lines)
        return self.speak("nothing_looked_host" if kind == "host" else "nothing_looked_text" if lines else "nothing_looked_empty")

    def _head(self, state: str, text: str) -> Iterator[Line]:
        word = self.speak(state)
        lines = list(Style(self.width).lines(text, "", " " * (cell_width(word) + 2)))
        first = lines[0][cell_width(word) + 2 :] if lines[0].startswith(" ") else lines[0]
        yield Content.assemble((word, STATE_STYLES[state]), "  ", (first, TITLE))
        yield from (Content.styled(line, TITLE) for line in lines[1:])

    def _labelled(self, label: str, text: str, style: str = "") -> Iterator[Line]:
        name = self.speak(label) if label else ""
        if self.width < SIDE_BY_SIDE and name:
            yield Content.styled(name, LABEL)
            name = ""
        for index, line in enumerate(Style(self.width - self.column).lines(text, "")):
            yield Content.assemble((padded("" if index else name, self.column), LABEL), (line, style))

    def _prose(self, text: str, style: str = "") -> Iterator[Line]:
        yield from (Content.styled(line, style) for line in Style(self.width).lines(text, ""))


def _joined(lines: Iterator[Line]) -> Content:
    return Content("\n").join(list(lines))


def commands(finding: Finding) -> str:
    """The command lines of a finding's fixes, as they are typed."""
    lines = [clean(step.text.en) for fix in finding.fixes for step in fix.steps if step.text.en == step.text.zh]
    return "\n".join(lines)


LINE_COST = 12
"""Bytes that a line takes beside its text: to get there, and its colours."""

BRIEF = 600
"""Bytes of detail that follow the cursor over a slow line."""


def brief(content: Content, rest: str) -> Content:
    """The first lines of a detail, as many as may be sent with every move of the cursor; then how to see the others."""
    lines, used = content.split("\n"), 0
    for number, line in enumerate(lines):
        used += len(line.plain.encode()) + LINE_COST
        if used > BRIEF and number:
            return Content("\n").join([*lines[:number], Content.styled(rest, "dim")])
    return content


def whole_report(report: Report, language: str) -> str:
    """As `doctor check` prints it."""
    from dataclasses import replace

    from doctor.report import text_format

    return text_format.render(replace(report, run=replace(report.run, language=language)), Style(WIDEST), 1)


def doubtful(report: Report) -> bool:
    """Whether several causes are possible and the first is none that is certain."""
    from doctor.finding import Confidence

    found = [cause.finding.confidence for cause in report.examination.causes]
    return bool(found) and found[0] is Confidence.POSSIBLE and found.count(Confidence.POSSIBLE) > 1


__all__ = ["Detail", "STATE_STYLES", "brief", "commands", "doubtful", "whole_report"]
