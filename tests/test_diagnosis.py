"""Grouping and order: the cause first, its symptoms under it, no severity lost."""

from __future__ import annotations

from dataclasses import replace

from doctor.diagnosis import Cause, diagnose
from doctor.finding import Basis, Confidence, Finding, Outcome, Severity, Verdict
from doctor.rule import Role, Rule
from doctor.words import Words

WORDS = Words("x", "x")


def rule(ident: str, role: Role = Role.CAUSE, explains: tuple[str, ...] = (), yields_to: tuple[str, ...] = ()) -> Rule:
    return Rule(ident, "area", Severity.FAIL, WORDS, WORDS, role=role, explains=explains, yields_to=yields_to)


def finding(
    ident: str,
    confidence: Confidence = Confidence.SURE,
    severity: Severity = Severity.FAIL,
    basis: Basis = Basis.LOG,
    position: int = 1,
) -> Finding:
    return Finding(ident, severity, confidence, WORDS, WORDS, basis=basis, position=position)


def run(rules: list[Rule], *findings: Finding) -> tuple[Cause, ...]:
    return diagnose([Verdict(item.rule, Outcome.FOUND, findings=(item,)) for item in findings], {item.id: item for item in rules})


def shape(causes: tuple[Cause, ...]) -> list[tuple[str, list[str]]]:
    return [(cause.finding.rule, [symptom.rule for symptom in cause.symptoms]) for cause in causes]


def test_a_symptom_stands_under_the_cause_though_it_comes_first_in_the_log() -> None:
    causes = run([rule("a-died", Role.SYMPTOM), rule("a-cause")], finding("a-died", position=1), finding("a-cause", position=9))
    assert shape(causes) == [("a-cause", ["a-died"])]


def test_a_symptom_alone_is_the_answer() -> None:
    assert shape(run([rule("a-died", Role.SYMPTOM)], finding("a-died"))) == [("a-died", [])]


def test_a_symptom_is_not_put_under_a_note_nor_under_what_only_the_facts_show() -> None:
    rules = [rule("a-died", Role.SYMPTOM), rule("a-note"), rule("a-setting")]
    causes = run(
        rules, finding("a-died"), finding("a-note", severity=Severity.NOTE), finding("a-setting", severity=Severity.WARN, basis=Basis.FACTS)
    )
    assert shape(causes) == [("a-died", []), ("a-setting", []), ("a-note", [])]


def test_a_symptom_is_not_put_under_what_it_explains() -> None:
    rules = [rule("a-waited", Role.SYMPTOM), rule("a-consequence", yields_to=("a-waited",))]
    assert shape(run(rules, finding("a-consequence"), finding("a-waited"))) == [("a-waited", ["a-consequence"])]


def test_a_wrapper_stands_under_a_symptom() -> None:
    assert shape(run([rule("a-wrap", Role.WRAPPER), rule("a-died", Role.SYMPTOM)], finding("a-wrap"), finding("a-died"))) == [("a-died", ["a-wrap"])]


def test_the_generic_yields_to_the_specific() -> None:
    causes = run([rule("a-generic", yields_to=("a-special",)), rule("a-special")], finding("a-generic"), finding("a-special"))
    assert shape(causes) == [("a-special", ["a-generic"])]


def test_what_is_sure_does_not_vanish_under_what_is_only_possible() -> None:
    rules = [rule("a-generic", yields_to=("a-special",)), rule("a-special")]
    assert shape(run(rules, finding("a-generic"), finding("a-special", Confidence.POSSIBLE))) == [("a-generic", []), ("a-special", [])]


def test_chains_end_at_the_root() -> None:
    rules = [rule("a-root", explains=("a-middle",)), rule("a-middle", explains=("a-end",)), rule("a-end")]
    assert shape(run(rules, finding("a-end"), finding("a-middle"), finding("a-root"))) == [("a-root", ["a-end", "a-middle"])]


def test_rules_that_explain_each_other_do_not_both_vanish() -> None:
    rules = [rule("a-one", explains=("a-two",)), rule("a-two", explains=("a-one",))]
    assert shape(run(rules, finding("a-one"), finding("a-two"))) == [("a-one", ["a-two"])]


def test_order() -> None:
    rules = [rule(name) for name in ("a-both", "a-early", "a-late", "a-likely", "a-warn")]
    causes = run(
        rules,
        finding("a-warn", severity=Severity.WARN),
        finding("a-likely", Confidence.LIKELY),
        finding("a-late", position=7),
        finding("a-early", position=3),
        finding("a-both", basis=Basis.BOTH, position=9),
    )
    assert [cause.finding.rule for cause in causes] == ["a-both", "a-early", "a-late", "a-likely", "a-warn"]


def test_a_warning_that_led_to_a_failure_is_as_severe_as_the_failure() -> None:
    causes = run([rule("a-died", Role.SYMPTOM), rule("a-cause")], finding("a-died"), replace(finding("a-cause"), severity=Severity.WARN))
    assert (causes[0].finding.rule, causes[0].finding.severity) == ("a-cause", Severity.FAIL)
