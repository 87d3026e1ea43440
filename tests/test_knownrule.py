"""A rule from the cache is the rule of its file, field by field."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from doctor import causefile
from doctor.checkup import FactSet, judge
from doctor.facts import FixedFacts
from doctor.facts.driver import Driver
from doctor.facts.kernel import Sysctls
from doctor.facts.npu import Chip
from doctor.finding import Outcome
from doctor.logscan.literals import required
from doctor.logscan.scan import Chunk, Hits, Match, Scan, Scanner
from doctor.rule import Rule
from doctor.rulebook import load

RULES = Path(__file__).resolve().parents[1] / "rules"


def _built(rule: Rule) -> Rule:
    name = f"{rule.area}/{rule.id}.yaml"
    return causefile.build(causefile.parse((RULES / name).read_text(encoding="utf-8"), name), rule.area, name)


def test_every_field_of_every_rule_is_that_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for book in (load(), load()):  # the second comes from the cache
        assert len(book.rules) > 300
        for rule in book.rules.values():
            built = replace(_built(rule), logic=rule.logic)
            assert rule.scanned == tuple(dict.fromkeys(built.scanned))
            assert (rule.by_log_only, rule.deciding) == (built.by_log_only, built.deciding)
            assert {field.name: getattr(rule, field.name) for field in fields(Rule)} == {field.name: getattr(built, field.name) for field in fields(Rule)}


def test_the_book_knows_the_literals_of_every_pattern() -> None:
    book = load()
    patterns = {pattern for rule in book.rules.values() for pattern in rule.scanned}
    assert set(book.literals) == patterns
    assert len(book.literals) == len(patterns)
    some = sorted(patterns)[::100]
    assert [book.literals[pattern] for pattern in some] == [required(pattern) for pattern in some]


def test_a_changed_copy_of_a_rule_goes_by_what_was_changed() -> None:
    rule = next(rule for rule in load().rules.values() if rule.by_log_only)
    changed = replace(rule, decisions=(), patterns={"said": ("another pattern",)}, logic=lambda: None)
    assert changed.scanned == ("another pattern",)
    assert not changed.by_log_only


def test_a_rule_of_log_lines_alone_is_judged_without_being_looked_into() -> None:
    rule = next(rule for rule in load().rules.values() if rule.by_log_only)
    facts = [FactSet("", FixedFacts())]
    silent = Scanner.of(rule.scanned).scan([Chunk("log", b"all is well\n")])
    assert judge(rule, facts, Scanner.of(()).scan([])).outcome is Outcome.SKIPPED
    assert judge(rule, facts, silent).outcome is Outcome.CLEAR
    assert "decisions" not in vars(rule)


@pytest.mark.parametrize("facts", [(), (Driver("24.1.0", None, None, "version.info"), Chip("a2", "910B3")), (Sysctls({"vm.swappiness": "60"}),)], ids=len)
def test_rules_that_lack_all_their_facts_say_the_same_whether_they_are_looked_into_or_not(facts: tuple[object, ...]) -> None:
    book = load()
    text = Chunk("log", "all is well\nRuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n驱动\n".encode())
    scan = Scanner(book.literals).scan([text])
    sets = [FactSet("", FixedFacts(*facts))]
    short = 0
    for rule in book.rules.values():
        quick = judge(rule, sets, scan)
        short += quick.outcome is Outcome.SKIPPED and "decisions" not in vars(rule)
        whole = judge(replace(rule), sets, scan)
        assert (quick.outcome, quick.why, quick.findings) == (whole.outcome, whole.why, whole.findings), rule.id
    assert short > 50


def test_a_line_that_only_stands_around_another_leaves_a_rule_unlooked_into() -> None:
    rule = next(rule for rule in load().rules.values() if rule.by_log_only and set(rule.scanned) > set(rule.deciding))
    around = next(pattern for pattern in rule.scanned if pattern not in rule.deciding)
    scan = Scan()
    scan.lines, scan.hits = 1, {around: Hits([Match("log", 1, 1, "around", {})])}
    assert judge(rule, [FactSet("", FixedFacts())], scan).outcome is Outcome.CLEAR
    assert "decisions" not in vars(rule)
    assert judge(replace(rule), [FactSet("", FixedFacts())], scan).outcome is Outcome.CLEAR
