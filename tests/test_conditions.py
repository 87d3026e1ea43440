"""Conditions over facts: comparisons, three-valued logic, and what is refused when a file is read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from doctor.conditions import Trace, compile_condition, known_condition
from doctor.facts import FixedFacts
from doctor.facts.cann import Cann, CannInstall
from doctor.facts.driver import Driver
from doctor.facts.kernel import Sysctls
from doctor.facts.machine import Memory
from doctor.facts.npu import Chip
from doctor.facts.target import Environment, Packages
from doctor.facts.vllm import ServeCommand, ServeCommands

INSTALL = CannInstall("/usr/local/Ascend/cann-8.5.1", "8.5.1")
FACTS = FixedFacts(
    Sysctls({"vm.swappiness": "60"}),
    Memory(swap_total=2 * 2**30),
    Driver("25.0.rc1.1"),
    Chip("a2", "910B3"),
    Cann((INSTALL,), INSTALL),
    Packages({"vllm-ascend": "0.11.0rc1", "vllm": "0.11.0+empty"}, complete=False),
    Environment({"TASK_QUEUE_ENABLE": "2"}, complete=True),
    ServeCommands((ServeCommand(("vllm",), flags={"max-num-seqs": "256", "enforce-eager": ""}),)),
)


@pytest.mark.parametrize(
    ("when", "answer"),
    [
        ({"sysctl.vm.swappiness": "> 10"}, True),
        ({"sysctl.vm.swappiness": "> 10, < 50"}, False),
        ({"sysctl.vm.overcommit_memory": "2"}, None),
        ({"memory.swap_total": ">= 2G"}, True),
        ({"memory.total": "< 64G"}, None),
        ({"driver.version": "< 25.0.0"}, True),
        ({"driver.version": ">= 25.0.RC1"}, True),
        ({"cann.version": "== 8.5.1"}, True),
        ({"cann.version": "< 8.3.RC2"}, False),
        ({"chip.family": ["a2", "a3"]}, True),
        ({"chip.family": {"not": ["310p", "950"]}}, True),
        ({"chip.name": {"matches": "^910B"}}, True),
        ({"package.vllm-ascend": ">= 0.11.0rc1, < 0.11.0"}, True),
        ({"package.vllm": "0.11.0"}, True),
        ({"package.torch-npu": "absent"}, None),
        ({"env.ASCEND_HOME_PATH": "absent"}, True),
        ({"env.TASK_QUEUE_ENABLE": "present"}, True),
        ({"env.TASK_QUEUE_ENABLE": "2"}, True),
        ({"flag.enforce-eager": "present"}, True),
        ({"flag.max-model-len": "absent"}, True),
        ({"machine.arch": "aarch64"}, None),
        ({"sysctl.vm.swappiness": "> 10", "machine.arch": "aarch64"}, None),
        ({"sysctl.vm.swappiness": "< 10", "machine.arch": "aarch64"}, False),
        ({"any": [{"machine.arch": "aarch64"}, {"chip.family": "a2"}]}, True),
        ({"any": [{"machine.arch": "aarch64"}, {"chip.family": "a3"}]}, None),
        ({"not": {"machine.arch": "aarch64"}}, None),
        ({"not": {"chip.family": "a3"}}, True),
        ({"all": [{"chip.family": "a2"}, {"driver.version": "< 24.1.RC1"}]}, False),
    ],
)
def test_answers(when: Any, answer: bool | None) -> None:
    assert compile_condition(when).evaluate(FACTS) is answer


def test_what_is_missing_is_named() -> None:
    trace = Trace()
    compile_condition({"chip.family": "a2", "machine.arch": "aarch64"}).evaluate(FACTS, trace)
    assert trace.missing == ["Machine: not recorded (not in this text)"]


def test_evidence_names_the_fields_that_held() -> None:
    trace = Trace()
    compile_condition({"sysctl.vm.swappiness": "> 10"}).evaluate(FACTS, trace)
    assert [(item.source, item.text) for item in trace.evidence()] == [("/proc/sys", "sysctl.vm.swappiness = 60")]


@pytest.mark.parametrize("version", ["", "garbage", "vX", "9" * 400, "1..2", "8.5.0\x00", "２.３"])
def test_odd_versions_are_unknown_or_compared_but_never_raise(version: str) -> None:
    facts = FixedFacts(Driver(version))
    assert compile_condition({"driver.version": "< 25.0.0"}).evaluate(facts) in (None, True, False)


@pytest.mark.parametrize(
    "when",
    [
        {},
        [],
        "x",
        {"no.such.field": "1"},
        {"sysctl.": "1"},
        {"sysctl.vm.swappiness": "> many"},
        {"driver.version": ">= "},
        {"chip.family": "> a2"},
        {"any": []},
        {"chip.family": []},
        {"chip.family": {"resembles": "a2"}},
        {"not": "x"},
    ],
)
def test_what_is_malformed_is_refused(when: Any) -> None:
    with pytest.raises(ValueError, match="."):
        compile_condition(when)


def test_a_condition_that_was_checked_before_compiles_only_what_it_compares() -> None:
    wrong = {"driver.version": "< not a version", "chip.name": {"matches": "("}}
    condition = known_condition(wrong)
    assert condition.evaluate(FixedFacts()) is None  # nothing is known, so nothing was compared
    with pytest.raises((ValueError, re.error)):
        condition.ready()
    with pytest.raises((ValueError, re.error)):
        compile_condition(wrong)
