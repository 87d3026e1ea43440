"""The pages of `doctor explain`: of a rule, with fixed headings, and of an error code with the rules that deal with it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.locale import speaker
from doctor.report.style import Style
from doctor.report.text_format import steps
from doctor.rule import Decision, Rule
from doctor.rulebook import patterns_of
from doctor.values import told

if TYPE_CHECKING:
    from doctor.errorcodes import CodeEntry
    from doctor.harmless import Harmless
    from doctor.words import Words

HEADINGS = ("page_checks", "page_why", "page_example", "page_fix", "page_references", "page_related")

NEAREST = 3
"""Names that are offered in place of an unknown one."""


def find_rule(name: str, rules: Mapping[str, Rule]) -> Rule | None:
    """The rule of that id, or the one that had it formerly."""
    return rules.get(name) or next((rule for rule in rules.values() if name in rule.formerly), None)


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Names like the unknown one, the most alike first; those that contain it count as alike."""
    every = sorted(set(names))
    close = difflib.get_close_matches(name, every, NEAREST, 0.6)
    word = name.strip("*?[]").lower()
    inside = [one for one in every if len(word) > 3 and word in one.lower()]
    return list(dict.fromkeys([*close, *inside]))[:NEAREST]


def mentions(code: str, rules: Iterable[Rule]) -> list[str]:
    """The rules whose patterns or words name the code, whole."""
    whole = re.compile(rf"(?<![0-9A-Za-z]){re.escape(code)}(?![0-9A-Za-z])", re.IGNORECASE)
    return [rule.id for rule in rules if any(whole.search(text) for text in _texts(rule)) or any(_matches(p, code) for p in patterns_of(rule))]


def _texts(rule: Rule) -> Iterator[str]:
    """Patterns with their escapes undone, so that `\\b507035` names 507035."""
    yield from (re.sub(r"\\[bBdDsSwWAZ]", " ", pattern) for pattern in patterns_of(rule))
    yield from (rule.title.en, rule.why.en, rule.example)
    if rule.checks is not None:
        yield rule.checks.en


def _matches(pattern: str, code: str) -> bool:
    """Whether a pattern matches the code alone: one that lists codes as `50703[0-9]`."""
    return re.search(pattern, code) is not None


def rule_page(rule: Rule, language: str, style: Style) -> Iterator[str]:
    """The page of one rule."""
    speak = speaker(language)
    yield style.paint("strong", rule.id)
    yield from style.lines(rule.title[language], "")
    facts = [("page_severity", rule.severity.word), ("page_area", rule.area), ("page_kind", rule.kind), ("page_origin", rule.origin)]
    facts += [("page_formerly", ", ".join(rule.formerly))] if rule.formerly else []
    yield from style.lines(" · ".join(f"{speak(key)}: {value}" for key, value in facts), "")
    bodies = (
        _checks(rule, language, style),
        style.lines(rule.why[language], "  "),
        style.verbatim(rule.example.rstrip() or speak("page_none"), "  "),
        _fixes(rule, language, style),
        (line for one in rule.references or (speak("page_none"),) for line in style.verbatim(one, "  ")),
        (line for one in _related(rule) or (speak("page_none"),) for line in style.verbatim(one, "  ")),
    )
    for heading, body in zip(HEADINGS, bodies, strict=True):
        yield ""
        yield style.paint("strong", speak(heading))
        yield from body


def _related(rule: Rule) -> Sequence[str]:
    return list(dict.fromkeys((*rule.related, *rule.explains, *rule.yields_to)))


def _checks(rule: Rule, language: str, style: Style) -> Iterator[str]:
    if rule.checks is not None:
        yield from style.lines(rule.checks[language], "  ")
        return
    speak = speaker(language)
    conditions = [condition for decision in rule.decisions for condition in _conditions(decision)]
    if rule.logic is not None:
        from doctor.report.listing import needed

        yield from style.lines(speak("page_logic", facts=", ".join(sorted(kind.__name__ for kind in needed(rule))) or "?"), "  ")
    if conditions:
        yield "  " + speak("page_conditions")
        for condition in dict.fromkeys(conditions):
            yield from style.lines(condition, "      ", "    ")
    patterns = [pattern for decision in rule.decisions if decision.signature for pattern in decision.signature.patterns]
    patterns += [pattern for group in rule.patterns.values() for pattern in group]
    if patterns:
        yield "  " + speak("page_log_lines")
        for pattern in dict.fromkeys(patterns):
            yield from style.verbatim(pattern, "    ")


def _conditions(decision: Decision) -> Iterator[str]:
    if isinstance(decision.when, Mapping):
        yield from (f"{key}: {_told(value)}" for key, value in decision.when.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_told(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_told, value)) + "]"
    return str(value)


def _fixes(rule: Rule, language: str, style: Style) -> Iterator[str]:
    speak = speaker(language)
    if not rule.fixes:
        yield "  " + speak("page_no_fix")
    for fix in rule.fixes:
        yield from style.lines(f"{told(fix.title)[language]} [{speak(fix.safety.value)}]", "  ")
        yield from steps([replace(step, text=told(step.text)) for step in fix.steps], style, language, "  ")
        if fix.verify is not None:
            yield from style.lines(f"{speak('verify')}: {told(fix.verify)[language]}", "  ")


def code_page(entries: Sequence[CodeEntry], rules: Mapping[str, Rule], dealing: Sequence[str], language: str, style: Style) -> Iterator[str]:
    """What an error code means; without entries only the rules that mention it."""
    speak = speaker(language)
    for entry in entries:
        yield style.paint("strong", " · ".join(part for part in (entry.code, entry.name) if part))
        level = " ".join(part for part in (entry.level, f"({entry.level_means[language]})" if entry.level_means else "") if part)
        yield from style.lines(f"{speak('code_class')}: {entry.family}" + (f", {level}" if level else ""), "  ")
        yield from style.lines(entry.meaning[language], "  ")
        if entry.causes is not None:
            yield from style.lines(f"{speak('code_causes')}: {entry.causes[language]}", "  ")
        yield ""
    if not entries:
        yield from style.lines(speak("code_only_rules"), "")
    if not dealing:
        yield speak("code_no_rules")
        return
    yield style.paint("strong", speak("code_rules"))
    for name in dealing:
        yield from style.lines(f"{name}: {rules[name].title[language]}", "    ", "  ")


def line_page(
    known: Harmless | None, codes: Sequence[tuple[str, Words]], dealing: Sequence[str], rules: Mapping[str, Rule], language: str, style: Style
) -> Iterator[str]:
    """What is known of one line of a log."""
    speak = speaker(language)
    if known is not None:
        yield from style.lines(f"{speak('harmless_line')} {known.reason[language]}", "")
    for code, meaning in codes:
        yield from style.lines(f"{code}: {meaning[language]}", "")
    if dealing:
        yield style.paint("strong", speak("line_rules"))
        for name in dealing:
            yield from style.lines(f"{name}: {rules[name].title[language]}", "    ", "  ")
