"""What a site decided: severities of its own, suppressions with an end, baselines that survive other subjects, names and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pytest

from doctor.examine import Examination
from doctor.finding import Severity
from doctor.fingerprint import fingerprint
from doctor.policy import BadBaseline, Policy, Suppression, judge, read_baseline, write_baseline
from tests.report.tiny import OUT_OF_STREAMS, SICK, examined

TODAY = date(2026, 11, 30)


def ids(examination: Examination) -> list[str]:
    return [cause.finding.rule for cause in examination.causes]


def judged(policy: Policy) -> tuple[list[str], list[str]]:
    examination, suppressed = judge(examined(SICK), policy, TODAY)
    return ids(examination), [item.finding.rule for item in suppressed]


def test_without_decisions_nothing_changes() -> None:
    before = examined(SICK)
    assert judge(before, Policy(), TODAY) == (before, ())


def test_a_suppressed_cause_takes_its_symptoms_along() -> None:
    examination, suppressed = judge(examined(SICK), Policy(suppressions=(Suppression("demo-out-*", "known"),), origin="doctor.toml"), TODAY)
    assert ids(examination) == ["demo-slow-disk"]
    assert [symptom.rule for symptom in suppressed[0].symptoms] == ["demo-engine-died"]
    assert suppressed[0].why("en") == "suppressed by doctor.toml · known"


@pytest.mark.parametrize(("until", "kept"), [(date(2026, 11, 29), True), (date(2026, 11, 30), False), (None, False)])
def test_a_suppression_ends_after_its_last_day(until: date | None, kept: bool) -> None:
    left, _ = judged(Policy(suppressions=(Suppression("demo-out-of-streams", "known", until=until),)))
    assert ("demo-out-of-streams" in left) is kept


def test_a_subject_narrows_a_suppression() -> None:
    assert judged(Policy(suppressions=(Suppression("demo-out-of-streams", "known", subject="NPU 7"),)))[1] == []


def test_a_former_name_still_suppresses() -> None:
    assert judged(Policy(suppressions=(Suppression("demo-streams", "known"),)))[1] == ["demo-out-of-streams"]


@pytest.mark.parametrize(
    ("severities", "first"),
    [({"demo-slow-disk": Severity.FAIL, "demo-out-of-streams": Severity.NOTE}, "demo-slow-disk"), ({"*": Severity.NOTE}, "demo-out-of-streams")],
)
def test_severities_of_the_site_reorder_the_causes(severities: Mapping[str, Severity], first: str) -> None:
    examination, _ = judge(examined(SICK), Policy(severities=severities), TODAY)
    assert ids(examination)[0] == first


def test_the_last_glob_that_fits_decides_the_severity() -> None:
    examination, _ = judge(examined(SICK), Policy(severities={"demo-*": Severity.NOTE, "demo-slow-disk": Severity.FAIL}), TODAY)
    assert {cause.finding.rule: cause.finding.severity for cause in examination.causes}["demo-slow-disk"] is Severity.FAIL


def test_a_baseline_suppresses_what_it_holds_and_nothing_new() -> None:
    known = read_baseline(write_baseline(examined("slow disk read\n").causes, "1"))
    left, suppressed = judged(Policy(baseline=known, baseline_origin="b.json"))
    assert (left, suppressed) == (["demo-out-of-streams"], ["demo-slow-disk"])


def test_a_baseline_holds_after_a_rule_was_renamed() -> None:
    before = replace(OUT_OF_STREAMS, id="demo-streams", formerly=())
    known = read_baseline(write_baseline(examined(SICK, before).causes, "1"))
    assert judged(Policy(baseline=known))[1] == ["demo-out-of-streams"]


def test_a_process_id_in_a_subject_is_no_part_of_the_fingerprint() -> None:
    assert fingerprint("r", "vllm (PID 12)") == fingerprint("r", "vllm (PID 13)") != fingerprint("r", "vllm (NPU 13)")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"causes": []}', '{"baseline_version": 9, "causes": {}}', "[" * 100_000])
def test_what_is_no_baseline_says_so(text: str) -> None:
    with pytest.raises(BadBaseline):
        read_baseline(text)
