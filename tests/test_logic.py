"""What a rule's logic wants, read without importing it; and that nothing is imported where there is nothing to see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor import causefile, rulebook
from doctor.checkup import FactSet, judge
from doctor.facts import FixedFacts
from doctor.facts.driver import Driver
from doctor.facts.npu import Chip
from doctor.finding import Hit, Outcome
from doctor.logic import LazyLogic, Need, injections, needs, needs_of
from doctor.logscan.scan import Scan
from doctor.logscan.signature import Matches
from doctor.rule import Rule
from doctor.rulepackage import rules_package


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def judge(driver: Driver, chip: Chip | None) -> None: ...", (("driver", "Driver", False), ("chip", "Chip", True))),
        ("def judge() -> None: ...", ()),
        ("def judge(driver) -> None: ...", None),
        ("def judge(driver: Optional[Driver]) -> None: ...", None),
        ("def judge(*facts: Driver) -> None: ...", None),
        ("judge = print", None),
        ("def judge(:", None),
        ("\0", None),
    ],
)
def test_annotations_are_read_by_syntax(source: str, told: object) -> None:
    assert needs_of(source) == told


def test_what_is_read_by_syntax_is_what_python_says() -> None:
    for rule in rulebook.load().rules.values():
        if isinstance(rule.logic, LazyLogic):
            by_python = tuple(Need(name, kind, optional) for name, (kind, optional) in injections(rule.logic.function()).items())
            assert needs(rule.logic) == by_python, rule.id


WORDS = "id: area-some-cause\nseverity: warn\ntitle: {en: T, zh: T}\nwhy: {en: W, zh: W}\npatterns: {seen: 'some words'}\n"


def lazy(told: tuple[tuple[str, str, bool], ...]) -> Rule:
    from dataclasses import replace

    rule = causefile.build(causefile.parse(WORDS, "x.yaml"), "area", "x.yaml")
    return replace(rule, logic=LazyLogic("doctor.no_such_module", told))


def test_nothing_to_see_is_skipped_without_an_import() -> None:
    rule = lazy((("chip", "Chip", True), ("matches", "Matches", False)))
    verdict = judge(rule, [FactSet("", FixedFacts())], Scan())
    assert (verdict.outcome, verdict.why) == (Outcome.SKIPPED, "Chip: not recorded (not in this text)")


def test_a_log_without_a_match_is_clear_without_an_import() -> None:
    scan = Scan()
    scan.lines = 3
    rule = lazy((("chip", "Chip", True), ("matches", "Matches", False)))
    assert judge(rule, [FactSet("", FixedFacts())], scan).outcome is Outcome.CLEAR


def test_with_something_to_see_the_module_is_asked() -> None:
    verdict = judge(lazy((("chip", "Chip", True), ("matches", "Matches", False))), [FactSet("", FixedFacts(Chip("a2", "910B3")))], Scan())
    assert verdict.outcome is Outcome.BROKEN and "no_such_module" in verdict.why


def test_plain_functions_work_as_well() -> None:
    def told(driver: Driver, matches: Matches) -> Iterator[Hit]:
        yield Hit(found=driver.version)

    assert needs(told) == (Need("driver", Driver, False), Need("matches", Matches, False))


def test_no_file_of_logic_is_without_its_cause_file() -> None:
    rules = Path(rules_package().__path__[0])
    for path in rules.glob("*/*.py"):
        if "def judge(" in path.read_text(encoding="utf-8"):
            assert path.with_name(path.stem.replace("_", "-") + ".yaml").is_file(), path
