"""What the steps on the cards measured reaches the rule book: an operator that fails, a card that is slow; nothing of the CPU."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from doctor.host.live import LiveHost
from doctor.locale import LANGUAGES
from doctor.report.style import Style
from doctor.smoke.account import slow_cards, told
from doctor.smoke.child import Ended, How
from doctor.smoke.diagnose import compared, diagnose
from doctor.smoke.events import Check, Figure
from doctor.smoke.jsonform import outcome_json
from doctor.smoke.outcome import State
from doctor.smoke.plan import Plan, Step
from doctor.smoke.run import run
from doctor.smoke.text import outcome_lines
from doctor.smoke.words import speaker
from tests.fixture_cases import book
from tests.watch.fakehost import FakeHost


def speeds(*rates: float, device: str = "npu") -> Ended:
    return Ended(How.FINISHED, 0, events=tuple(Figure("matmul float16 4096", rate, "TFLOP/s", f"{device}:{card}") for card, rate in enumerate(rates)))


def test_a_slow_card_is_found_by_the_rule_book() -> None:
    diagnosis = compared(FakeHost(), book(), "operators", speeds(300, 302, 298, 180))
    assert diagnosis is not None
    (cause,) = diagnosis.causes
    assert cause.finding.rule == "npu-slow-card" and "npu:3 takes 1.4" in cause.finding.evidence[0].text


def test_cards_that_are_alike_one_card_and_the_cpu_are_no_finding() -> None:
    for ended in (speeds(300, 290, 280), speeds(300), speeds(300, 100, device="cpu"), speeds(0, 300)):
        assert list(slow_cards("operators", ended)) == [] and compared(FakeHost(), book(), "operators", ended) is None


def test_an_operator_that_fails_on_one_card_alone() -> None:
    checks = (Check("matmul float16", True, "", "npu:0"), Check("matmul float16", False, "differs by 0.5", "npu:1"))
    (cause,) = diagnose(FakeHost(), book(), "operators", Ended(How.FINISHED, 0, events=checks), "npu", None).causes
    assert (cause.finding.rule, cause.finding.evidence[0].text) == ("npu-smoke-op-failed", "Smoke test: matmul float16 fails on npu:1: differs by 0.5; it passes on npu:0")


def test_an_operator_in_which_the_process_ends() -> None:
    assert list(told("operators", Ended(How.CRASHED, -11, "softmax float16 on npu:0"))) == ["Smoke test: softmax float16 fails on npu:0: the process ended by SIGSEGV"]
    assert list(told("device", Ended(How.HUNG, None, "compute on npu:2"))) == ["Smoke test: compute fails on npu:2: no end within its time"]


def test_the_code_that_an_operator_printed_comes_first() -> None:
    ended = Ended(How.FAILED, 1, "matmul float16 on npu:0", output="RuntimeError: synchronize: The error code is 507015, aicore exception\n")
    first, *_ = diagnose(FakeHost(), book(), "operators", ended, "npu", None).causes
    assert first.finding.rule == "npu-aicore-exception" and [symptom.rule for symptom in first.symptoms] == ["npu-smoke-op-failed"]


def test_imports_and_the_cpu_are_none_of_it() -> None:
    assert list(told("operators", Ended(How.FAILED, 1, "import torch_npu"))) == []
    assert list(told("engine", Ended(How.FAILED, 1, "compute on npu:0"))) == []
    failed = Ended(How.FINISHED, 0, events=(Check("matmul float32", False, "differs by 0.5", "cpu:0"),))
    assert list(told("operators", failed)) == [] and not diagnose(FakeHost(), book(), "operators", failed, "cpu", None).causes


def test_a_run_that_passes_tells_the_slow_card() -> None:
    rates = {"npu:0": 300.0, "npu:1": 310.0, "npu:2": 150.0}
    step = Step("operators", str(Path(__file__).parent / "steps" / "measures"), {"rates": rates}, 1.0, 60.0, None, ())
    outcome = run(Plan("npu", 2, (), sys.executable, dict(os.environ), (step,)), LiveHost(), book())
    (result,) = outcome.results
    assert (result.state, outcome.exit_code) == (State.PASSED, 0)
    for language in LANGUAGES:
        speak = speaker(language)
        (cause,) = outcome_json(outcome, speak, language, book().rules)["steps"][0]["causes"]
        assert cause["rule"] == "npu-slow-card"
        assert "npu:2 takes 1.5" in "\n".join(outcome_lines(outcome, speak, Style(), language))
