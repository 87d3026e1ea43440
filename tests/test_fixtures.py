"""Every fixture: what must be found, what must have looked and stayed clear, and what must stay silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from doctor.examine import Examination
from doctor.finding import Outcome
from tests.fixture_cases import SmallCase, book, examine, folders, reported, run_host, run_text, small_cases


@pytest.mark.parametrize("case", small_cases(), ids=str)
def test_small_case(case: SmallCase, tmp_path: Path) -> None:
    examination = examine(case, tmp_path)
    said = reported(examination)
    verdict = next(verdict for verdict in examination.verdicts if verdict.rule == case.rule)
    assert verdict.outcome is not Outcome.BROKEN, verdict.why
    if case.expect == "fires":
        assert case.rule in said, f"{verdict.outcome}: {verdict.why}; said {list(said)}"
        if case.text is not None or case.first:
            assert examination.causes[0].finding.rule == (case.first or case.rule), list(said)
        finding = verdict.findings[0]
        assert finding.evidence, "a finding shows where it was seen"
        for wanted, given in ((case.severity, finding.severity.word), (case.confidence, finding.confidence.word), (case.subject, finding.subject)):
            assert wanted is None or wanted == given
    elif case.expect == "clear":
        assert verdict.outcome is Outcome.CLEAR, f"{verdict.outcome}: {verdict.why}"
    else:
        assert case.rule not in said, verdict.findings
        if case.instead:
            assert case.instead in said, list(said)


@pytest.mark.parametrize("rule", sorted(book().rules))
def test_rule_fires_stays_clear_and_knows_its_look_alike(rule: str) -> None:
    cases = [case for case in small_cases() if case.rule == rule]
    assert {"fires", "clear", "look-alike"} <= {case.expect for case in cases}


@pytest.mark.parametrize("folder", folders("reports"), ids=lambda folder: folder.name)
def test_report(folder: Path) -> None:
    expect = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))
    examination = run_text((folder / "input.txt").read_text(encoding="utf-8", errors="replace"))
    said = reported(examination)
    allowed = {*_ids(expect, "cause"), *_ids(expect, "found"), *_ids(expect, "allow"), *_ids(expect, "unknown")}
    if expect.get("cause"):
        assert examination.causes and examination.causes[0].finding.rule in expect["cause"], list(said)
    _check_common(expect, examination, said)
    loud = {cause.finding.rule for cause in examination.causes if cause.finding.severity.word != "note"}
    assert loud <= allowed, f"unexpected: {loud - allowed}"
    if expect.get("unknown"):
        assert set(expect["unknown"]) & set(said), list(said)
        sure = [c.finding.rule for c in examination.causes if c.finding.confidence.word == "sure" and c.finding.rule in expect["unknown"]]
        assert not sure


@pytest.mark.parametrize("folder", folders("hosts"), ids=lambda folder: folder.name)
def test_host(folder: Path) -> None:
    expect = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))
    examination = run_host(folder)
    said = reported(examination)
    _check_common(expect, examination, said)
    loud = {cause.finding.rule for cause in examination.causes if cause.finding.severity.word != "note"}
    assert loud <= {*_ids(expect, "found"), *_ids(expect, "allow")}, sorted(loud)
    assert not [verdict for verdict in examination.verdicts if verdict.outcome is Outcome.BROKEN]


def _ids(expect: dict[str, Any], key: str) -> list[str]:
    return list(expect.get(key) or [])


def _check_common(expect: dict[str, Any], examination: Examination, said: dict[str, str]) -> None:
    outcomes = {verdict.rule: verdict for verdict in examination.verdicts}
    rules = book().rules
    assert not [rule for rule in _ids(expect, "found") if rule in rules and rule not in said]
    assert not [(rule, outcomes[rule].why) for rule in _ids(expect, "clear") if rule in rules and outcomes[rule].outcome is not Outcome.CLEAR]
    assert not [rule for rule in _ids(expect, "never") if rule in said]
