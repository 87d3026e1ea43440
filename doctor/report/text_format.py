"""The report for people, as plain text: the machine in one line, the causes with what to do, what was skipped, the totals.

Contract: states are words; every text from outside is cleaned again; nothing that a log holds is taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.diagnosis import Cause
from doctor.errorcodes import meanings
from doctor.finding import Basis, Confidence, Evidence, Finding, Outcome
from doctor.firsterror import FirstError
from doctor.fix import Fix, Safety, Step
from doctor.locale import Speak, speaker
from doctor.report import machine, skips
from doctor.report.model import Report
from doctor.report.style import Style, short
from doctor.said import said
from doctor.text import cell_width

LABELS = ("subject", "found", "wanted", "seen", "why", "decide", "todo", "or_todo", "verify", "explains", "rule", "unknown_codes", "unknown_next")

EVIDENCE_SHOWN = 3
"""Pieces of evidence of one cause, unless all are asked for."""

EVIDENCE_LENGTH = 240

_NO_NPU_RULES = ("npu-not-present",)
"""Rules that say already that there is no NPU."""


def render(report: Report, style: Style, detail: int = 0) -> str:
    """The whole report. `detail`: -1 one line a cause, 0 ordinary, 1 every piece of evidence and every verdict."""
    painter = _Painter(style, speaker(report.run.language), report.run.language, detail)
    lines = painter.brief(report) if detail < 0 else painter.whole(report)
    return "".join(line + "\n" for line in lines)


class _Painter:
    """Renders parts of a report in one style and one language."""

    def __init__(self, style: Style, speak: Speak, language: str, detail: int) -> None:
        self.style, self.speak, self.language, self.detail = style, speak, language, detail
        self.column = max(cell_width(speak(label)) for label in LABELS) + 2
        self.indent = " " * (self.column + 3)

    def brief(self, report: Report) -> Iterator[str]:
        for cause in report.examination.causes:
            yield f"{self._state(cause.finding)}  {cause.finding.rule}: {short(cause.finding.title[self.language], 500)}"

    def whole(self, report: Report) -> Iterator[str]:
        yield from self.style.lines(machine.line(report, self.speak), "  ", "")
        yield from self._no_npu(report)
        causes = report.examination.causes
        if len([cause for cause in causes if cause.finding.confidence is Confidence.POSSIBLE]) > 1 and causes[0].finding.confidence is Confidence.POSSIBLE:
            yield ""
            yield from self.style.lines(self.speak("several"), "")
        for number, cause in enumerate(causes, 1):
            yield ""
            yield from self._cause(number, cause)
        if not causes:
            yield ""
            yield from self.style.lines(machine.nothing(report, self.speak), "")
        yield from self._unknown(report.examination.first_error)
        yield from self._not_looked(report)
        yield from self._suppressed(report)
        yield ""
        yield from self.style.lines(machine.totals(report, self.speak), "")
        if report.recorded:
            yield from self.style.verbatim(self.speak("recorded", folder=report.recorded), "")

    def _no_npu(self, report: Report) -> Iterator[str]:
        said = {cause.finding.rule for cause in report.examination.causes} & set(_NO_NPU_RULES)
        if report.host.kind == "host" and report.host.npu_present is False and not said:
            yield ""
            said_so = self.speak("no_npu", how=short(report.host.npu_how, 300))
            yield from self.style.lines(said_so, "      ", self.style.paint("NOTE", self.speak("NOTE")) + "  ")

    def _state(self, finding: Finding) -> str:
        return self.style.paint(finding.severity.name, self.speak(finding.severity.name))

    def _cause(self, number: int, cause: Cause) -> Iterator[str]:
        finding = cause.finding
        doubt = "" if finding.confidence is Confidence.SURE else f" ({self.speak(finding.confidence.word)})"
        head = f"{number}. {self._state(finding)}{doubt}  "
        yield from self.style.lines(finding.title[self.language], "   ", head)
        for label, text in (("subject", finding.subject), ("found", said(finding.found, self.language)), ("wanted", said(finding.wanted, self.language))):
            if text:
                yield from self._labelled(label, short(text, 600))
        yield from self._evidence(finding.evidence)
        yield from self._labelled("why", finding.why[self.language])
        if finding.decide is not None:
            yield from self._labelled("decide", finding.decide[self.language])
        for index, fix in enumerate(finding.fixes):
            yield from self._fix("or_todo" if index else "todo", fix)
            if command := fix_command(finding, fix):
                yield from self._labelled("", self.speak("by_doctor", command=command))
        for index, symptom in enumerate(cause.symptoms):
            yield from self._labelled("explains" if not index else "", f"{short(symptom.title[self.language], 300)} [{symptom.rule}]")
        yield from self._labelled("rule", f"{finding.rule} · doctor explain {finding.rule}")

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        name = self.speak(label) if label else ""
        head = "   " + self.style.paint("faint", name) + " " * (self.column - cell_width(name))
        lines = list(self.style.lines(text, self.indent))
        yield head + lines[0].lstrip() if lines[0].strip() else head.rstrip()
        yield from lines[1:]

    def _evidence(self, evidence: Sequence[Evidence]) -> Iterator[str]:
        shown = evidence if self.detail > 0 else evidence[:EVIDENCE_SHOWN]
        for index, item in enumerate(shown):
            yield from self._labelled("" if index else "seen", self._seen(item))
        if len(evidence) > len(shown):
            yield from self._labelled("", self.speak("more_evidence", count=len(evidence) - len(shown)))

    def _seen(self, item: Evidence) -> str:
        where = short(item.source, 200) + (f":{item.line}" if item.line else "")
        times = f"  ({self.speak('times', count=item.count, first=item.first, last=item.last)})" if item.count > 1 else ""
        return f"{where}  {short(item.text, EVIDENCE_LENGTH)}{times}"

    def _fix(self, label: str, fix: Fix) -> Iterator[str]:
        yield from self._labelled(label, f"{fix.title[self.language]} [{self.speak(fix.safety.value)}]")
        yield from steps(fix.steps, self.style, self.language, self.indent)
        if fix.verify is not None:
            yield from self._labelled("verify", fix.verify[self.language])

    def _unknown(self, error: FirstError | None) -> Iterator[str]:
        """The first error that no rule explains, with its codes and where to look next."""
        if error is None:
            return
        yield ""
        yield from self.style.lines(self.speak("unknown_head"), "")
        yield from self._labelled("seen", self._seen(error.evidence))
        if error.others:
            yield from self._labelled("", self.speak("unknown_others", count=error.others))
        for index, (code, meaning) in enumerate(meanings(error.codes)):
            yield from self._labelled("" if index else "unknown_codes", f"{code}: {meaning[self.language]}")
        yield from self._labelled("unknown_next", self.speak("unknown_next_plog"))
        yield from self._labelled("", self.speak("unknown_next_report"))

    def _suppressed(self, report: Report) -> Iterator[str]:
        """Named in one line each, never hidden."""
        if report.suppressed:
            yield ""
        head = self.style.paint("faint", self.speak("suppressed")) + "  "
        for item in report.suppressed:
            yield from self.style.lines(f"{item.finding.rule}: {short(item.why(self.language), 300)}", "      ", head)

    def _not_looked(self, report: Report) -> Iterator[str]:
        verdicts = report.examination.verdicts
        skipped = [verdict for verdict in verdicts if verdict.outcome is Outcome.SKIPPED]
        if skipped:
            yield ""
            head = self.style.paint("SKIP", self.speak("SKIP")) + "  "
            yield from self.style.lines(self.speak("skipped_head", count=len(skipped), rules=report.summary.rules), "      ", head)
            reasons = (f"{verdict.rule}: {said(verdict.why, self.language)}" for verdict in skipped) if self.detail > 0 else skips.told(skipped, self.speak)
            for reason in reasons:
                yield from self.style.lines(reason, "        ", "      ")
            if self.detail == 0:
                yield from self.style.lines(self.speak("verbose_hint"), "      ")
        head = self.style.paint("BROKEN", self.speak("BROKEN")) + "  "
        for verdict in verdicts:
            if verdict.outcome is Outcome.BROKEN:
                why = verdict.why.strip()
                told = why if self.detail > 0 else short(why.rpartition("\n")[2], 400)
                yield from self.style.lines(self.speak("broken_rule", rule=verdict.rule, why=told), "        ", head)
        for problem in report.problems:
            yield from self.style.lines(self.speak("source_problem", why=short(problem, 400)), "      ", head)


def fix_command(finding: Finding, fix: Fix) -> str:
    """The command that plans a fix which doctor can apply, "" for one that is by hand; a cause that only a log shows is planned with that log."""
    if not fix.do or fix.safety is Safety.SHOW:
        return ""
    several = sum(bool(one.do) and one.safety is not Safety.SHOW for one in finding.fixes) > 1
    name = f"{finding.rule}/{fix.id}" if several else finding.rule
    return f"doctor fix {name}" + (" --log FILE" if finding.basis is Basis.LOG else "")


def steps(fix_steps: Sequence[Step], style: Style, language: str, indent: str) -> Iterator[str]:
    """Sentences numbered; a command (the same text in both languages) on lines of its own, as it is typed."""
    number = 0
    for step in fix_steps:
        if step.text.en == step.text.zh:
            yield from style.verbatim(step.text.en, indent + "   ")
        else:
            number += 1
            yield from style.lines(step.text[language], indent + "   ", f"{indent}{number}. ")
