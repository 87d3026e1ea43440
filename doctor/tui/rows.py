"""From a report to the rows of the list, and which of them a filter lets through. Pure; knows no Textual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from doctor.locale import Speak
from doctor.record import dataclass
from doctor.report.style import short
from doctor.words import Words

if TYPE_CHECKING:
    from doctor.diagnosis import Cause
    from doctor.finding import Finding, Verdict
    from doctor.firsterror import FirstError
    from doctor.fix import Fix
    from doctor.report.model import Report
    from doctor.rule import Rule

TEXT_LENGTH = 300
"""Characters of a row's text: far more than a terminal is wide."""

Known = frozenset[tuple[str, str]]
"""(rule, subject) of every finding of a run."""

_ALIASES = {"clear": "pass", "skipped": "skip", "unknown": "error"}


@dataclass(frozen=True)
class Row:
    """One line of the list. `state` is a key of the words: FAIL, WARN, NOTE, SKIP, BROKEN, PASS or ERROR. `depth` 1 is a symptom."""

    key: str
    state: str
    rule: str
    text: Words
    area: str = ""
    fixes: tuple[Fix, ...] = ()
    depth: int = 0
    symptoms: int = 0
    new: bool = False
    finding: Finding | None = None
    cause: Cause | None = None
    verdict: Verdict | None = None
    error: FirstError | None = None
    words: str = field(default="", repr=False)
    """What the filter looks at, in lower case and both languages."""

    @property
    def is_cause(self) -> bool:
        return self.cause is not None and self.depth == 0


@dataclass(frozen=True)
class Shown:
    """What the user asked to see: skipped rules, passed rules, and the causes whose symptoms are unfolded."""

    skipped: bool = False
    passed: bool = False
    unfolded: frozenset[str] = frozenset()


def findings_of(report: Report) -> Known:
    """What a run found, to mark what the next one finds anew."""
    return frozenset((finding.rule, finding.subject) for verdict in report.examination.verdicts for finding in verdict.findings)


def rows_of(report: Report, shown: Shown, before: Known | None = None) -> Iterator[Row]:
    """Causes with their symptoms, what no rule explains, what broke; then, where asked for, what was skipped and what passed."""
    from doctor.checkup import NO_LOG
    from doctor.finding import Outcome

    rules = report.examination.book.rules
    for cause in report.examination.causes:
        yield from _cause_rows(cause, shown, rules, before)
    if (error := report.examination.first_error) is not None:
        text = Words(short(error.evidence.text, TEXT_LENGTH), short(error.evidence.text, TEXT_LENGTH))
        yield Row("error", "ERROR", "", text, error=error, words=_words("error", text.en, *error.codes))
    for number, problem in enumerate(report.problems):
        text = Words(short(problem, TEXT_LENGTH), short(problem, TEXT_LENGTH))
        yield Row(f"problem {number}", "BROKEN", "", text, words=_words(text.en))
    for outcome, wanted in ((Outcome.BROKEN, True), (Outcome.SKIPPED, shown.skipped), (Outcome.CLEAR, shown.passed)):
        chosen = [verdict for verdict in report.examination.verdicts if verdict.outcome is outcome] if wanted else []
        chosen.sort(key=lambda verdict: verdict.why == NO_LOG)  # hundreds of rules only want a log: they come last
        yield from (_verdict_row(verdict, rules.get(verdict.rule)) for verdict in chosen)


def rows_so_far(verdicts: Iterable[Verdict], rules: Mapping[str, Rule]) -> Iterator[Row]:
    """What a running examination has found, in the order of the rules; causes and symptoms part at its end."""
    from doctor.finding import Outcome

    for verdict in verdicts:
        for finding in verdict.findings:
            yield _finding_row(finding, rules.get(finding.rule))
        if verdict.outcome is Outcome.BROKEN:
            yield _verdict_row(verdict, rules.get(verdict.rule))


def _cause_rows(cause: Cause, shown: Shown, rules: Mapping[str, Rule], before: Known | None) -> Iterator[Row]:
    row = _finding_row(cause.finding, cause.rule, cause, before)
    yield row
    if row.key in shown.unfolded:
        for symptom in cause.symptoms:
            yield _finding_row(symptom, rules.get(symptom.rule), cause, before, 1)


def _finding_row(finding: Finding, rule: Rule | None, cause: Cause | None = None, before: Known | None = None, depth: int = 0) -> Row:
    area = rule.area if rule else ""
    symptoms = cause.symptoms if cause and not depth else ()
    about = [text for each in (finding, *symptoms) for text in (each.rule, each.title.en, each.title.zh, each.found, each.subject)]
    return Row(
        f"found {finding.rule} {finding.subject}",
        finding.severity.name,
        finding.rule,
        _titled(finding),
        area,
        finding.fixes,
        depth,
        len(symptoms),
        before is not None and (finding.rule, finding.subject) not in before,
        finding,
        cause,
        words=_words(area, *about),
    )


LONG_SUBJECT = 16
"""Characters from which on a subject (mostly a path) stands behind the title, so that the title is what is read first."""


def _titled(finding: Finding) -> Words:
    subject = finding.subject
    head, tail = (f"{subject}: ", "") if subject and len(subject) < LONG_SUBJECT else ("", f" ({subject})" if subject else "")
    return Words(*(short(head + finding.title[language] + tail, TEXT_LENGTH) for language in ("en", "zh")))


def _verdict_row(verdict: Verdict, rule: Rule | None) -> Row:
    from doctor.checkup import NO_LOG
    from doctor.finding import Outcome
    from doctor.said import said

    state = {Outcome.BROKEN: "BROKEN", Outcome.SKIPPED: "SKIP"}.get(verdict.outcome, "PASS")
    title = rule.title if rule else Words("", "")
    why = verdict.why.strip().rpartition("\n")[2]
    chinese = said(why, "zh") if state == "SKIP" and why != NO_LOG else why
    text = title if state == "PASS" else Words(short(why, TEXT_LENGTH), short(chinese, TEXT_LENGTH))
    area = rule.area if rule else ""
    return Row(f"rule {verdict.rule}", state, verdict.rule, text, area, verdict=verdict, words=_words(verdict.rule, area, title.en, title.zh, why, chinese))


def _words(*parts: str) -> str:
    return "\n".join(parts).lower()


def told(row: Row, speak: Speak, language: str) -> str:
    """The row's text in one language, without its indent."""
    if row.state == "PASS":
        return speak("not_so", title=row.text[language])
    if row.state == "SKIP":
        from doctor.checkup import NO_LOG

        return speak("skipped_no_log") if row.text.en == NO_LOG else row.text[language]
    if row.state == "ERROR":
        return speak("unknown_error", text=row.text[language])
    doubt = f" ({speak(row.finding.confidence.word)})" if row.finding is not None and row.finding.confidence.word != "sure" else ""
    return row.text[language] + doubt


def safety(row: Row, speak: Speak) -> str:
    """How the first fix may be done, in a word."""
    return speak(f"{row.fixes[0].safety.value}_short") if row.fixes else speak("no_fix") if row.finding else ""


@dataclass(frozen=True)
class Filter:
    """What `/` asks for: words that must (`wanted`) and must not (`unwanted`) occur, areas, states. All of them must hold."""

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Filter:
        parts: dict[str, list[str]] = {"": [], "!": [], "area": [], "state": []}
        for word in text.lower().split():
            name, colon, value = word.partition(":")
            if colon and name in ("area", "state"):
                parts[name] += [_ALIASES.get(one, one) for one in value.split(",") if one]
            elif word.startswith("!"):
                parts["!"] += [word[1:]] if word[1:] else []
            else:
                parts[""].append(word)
        return cls(*(tuple(parts[name]) for name in ("", "!", "area", "state")))

    def opened(self, shown: Shown) -> Shown:
        """What must be shown so that the states which are asked for can be seen."""
        return Shown(shown.skipped or _begins("skip", self.states), shown.passed or _begins("pass", self.states), shown.unfolded)

    def passes(self, row: Row) -> bool:
        return (
            all(word in row.words for word in self.wanted)
            and not any(word in row.words for word in self.unwanted)
            and (not self.areas or _begins(row.area, self.areas))
            and (not self.states or _begins(row.state.lower(), self.states))
        )


def _begins(name: str, starts: Collection[str]) -> bool:
    return any(name.startswith(start) for start in starts)


def by_area(report: Report) -> Mapping[str, int]:
    """How many causes lie in each area, most first."""
    return dict(Counter(cause.rule.area for cause in report.examination.causes).most_common())


__all__ = ["Filter", "Known", "Row", "Shown", "by_area", "findings_of", "rows_of", "rows_so_far", "safety", "told"]
