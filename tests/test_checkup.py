"""Running rules: clear only when really looked, skipped with the reason, broken with the traceback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from doctor import causefile
from doctor.checkup import FactSet, judge
from doctor.facts import FixedFacts
from doctor.facts.driver import Driver
from doctor.facts.kernel import Sysctls
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.finding import Confidence, Hit, Outcome, Severity, Skip, Verdict
from doctor.logscan.scan import Scanner
from doctor.logscan.signature import Matches
from doctor.logscan.sources import text_chunk
from doctor.rule import Rule
from doctor.rulebook import patterns_of

HEAD = "id: area-some-cause\nseverity: warn\ntitle: {en: Title <width>., zh: 标题}\nwhy: {en: Why., zh: 原因}\n"


def make(body: str, logic: Callable[..., Any] | None = None) -> Rule:
    from dataclasses import replace

    return replace(causefile.build(causefile.parse(HEAD + body, "x.yaml"), "area", "x.yaml"), logic=logic)


def verdict(rule: Rule, text: str = "", *facts: object) -> Verdict:
    chunks = [text_chunk(text, "log")] if text else []
    return judge(rule, [FactSet("", FixedFacts(*facts))], Scanner.of(patterns_of(rule)).scan(chunks))


FACTS_OR_LOG = """\
decide:
- log: 'driver is too old: (?P<width>\\d{1,9})'
- when: {driver.version: '< 25.0.0'}
  confidence: likely
"""


def test_clear_needs_the_facts() -> None:
    rule = make(FACTS_OR_LOG)
    assert verdict(rule, "", Driver("25.5.2")).outcome is Outcome.CLEAR
    skipped = verdict(rule, "a healthy line\n")
    assert (skipped.outcome, skipped.why) == (Outcome.SKIPPED, "Driver: not recorded (not in this text)")


def test_a_log_rule_without_a_log_is_skipped() -> None:
    rule = make("decide:\n- log: 'some words'\n")
    assert (verdict(rule).outcome, verdict(rule).why) == (Outcome.SKIPPED, "no log was given")
    assert verdict(rule, "other words\n").outcome is Outcome.CLEAR


def test_the_surest_way_wins_and_brings_all_evidence() -> None:
    found = verdict(make(FACTS_OR_LOG), "x\ndriver is too old: 7\n", Driver("24.1.0", source="version.info")).findings[0]
    assert found.confidence is Confidence.SURE
    assert [(item.source, item.line) for item in found.evidence] == [("log", 2), ("version.info", 0)]
    assert found.title.en == "Title 7."


LOG_AND_FACTS = """\
decide:
- log: 'feature is unsupported'
  when: {chip.family: 310p}
  unknown: possible
"""


def test_facts_decide_what_a_line_means() -> None:
    rule, line = make(LOG_AND_FACTS), "feature is unsupported\n"
    assert verdict(rule, line, Chip("310p", "310P3")).findings[0].confidence is Confidence.SURE
    assert verdict(rule, line).findings[0].confidence is Confidence.POSSIBLE
    assert verdict(rule, line, Chip("a2", "910B3")).outcome is Outcome.CLEAR


def test_near_unless_after_and_count() -> None:
    rule = make("decide:\n- log: 'it failed'\n  near: [{log: 'device 7', lines: 2}]\n  unless: [{log: 'retry succeeded', lines: 3}]\n")
    assert verdict(rule, "device 7\nx\nit failed\n").outcome is Outcome.FOUND
    assert verdict(rule, "device 7\nx\nx\nit failed\n").outcome is Outcome.CLEAR
    assert verdict(rule, "device 7\nit failed\nretry succeeded\n").outcome is Outcome.CLEAR
    ordered = make("decide:\n- log: 'it failed'\n  after: 'began to serve'\n  count: 2\n")
    assert verdict(ordered, "began to serve\nit failed\nit failed\n").outcome is Outcome.FOUND
    assert verdict(ordered, "it failed\nbegan to serve\nit failed\n").outcome is Outcome.CLEAR


def swappiness(sysctls: Sysctls, chip: Chip | None) -> Iterator[Hit]:
    if sysctls.values["vm.swappiness"] != "1":
        yield Hit(found=sysctls.values["vm.swappiness"], subject=chip.name if chip else "", severity=Severity.NOTE)


def test_logic_gets_its_facts_by_annotation() -> None:
    rule = make("", swappiness)
    assert verdict(rule, "", Sysctls({"vm.swappiness": "1"})).outcome is Outcome.CLEAR
    found = verdict(rule, "", Sysctls({"vm.swappiness": "60"}), Chip("a2", "910B3")).findings[0]
    assert (found.found, found.subject, found.severity) == ("60", "910B3", Severity.NOTE)
    assert verdict(rule).outcome is Outcome.SKIPPED


def test_a_rule_that_raises_is_broken_and_says_where() -> None:
    broken = verdict(make("", swappiness), "", Sysctls({}))
    assert broken.outcome is Outcome.BROKEN
    assert "KeyError: 'vm.swappiness'" in broken.why


def test_logic_that_cannot_tell_skips() -> None:
    def judge_packages(packages: Packages) -> Iterator[Hit]:
        if not packages.complete:
            raise Skip("only some packages are known")
        yield from ()

    skipped = verdict(make("", judge_packages), "", Packages({}, complete=False))
    assert (skipped.outcome, skipped.why) == (Outcome.SKIPPED, "only some packages are known")


def test_logic_sees_the_matches_of_its_named_patterns() -> None:
    def count(matches: Matches) -> Iterator[Hit]:
        if matches.count("tries") > 2:
            yield Hit(found=matches["tries"][0].text, position=matches["tries"][0].ordinal + 1)

    rule = make("patterns: {tries: 'try number \\d'}\n", count)
    assert verdict(rule, "try number 1\ntry number 2\n").outcome is Outcome.CLEAR
    assert verdict(rule, "try number 1\ntry number 2\ntry number 3\n").findings[0].found == "try number 1"
    assert verdict(rule).outcome is Outcome.SKIPPED
