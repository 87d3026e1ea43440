"""The guided decision about an unsupported operator: the order of the questions, what each "no" leads to, and what remains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.apply.plan import StepPlan
from doctor.apply.steps.operator_guide import KIND
from doctor.facts.cann import Cann, CannInstall, CannLibraryPath
from doctor.facts.machine import Machine
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.fix import GuideOperators
from tests.apply.grounds import context
from tests.apply.stand_in_packages import custom_operators, run_file

A2, P310, OLD_910 = Chip("a2", "910B3", "ascend910b"), Chip("310p", "310P3", "ascend310p"), Chip("a1", "910A", "ascend910")


def cann(version: str = "8.5.1", kernels: tuple[str, ...] = ("ascend910b",), of: str = "") -> Cann:
    install = CannInstall("/usr/local/Ascend/cann-x", version, kernels=kernels, kernels_version=of or version)
    return Cann((install,), install)


PATHS = CannLibraryPath("/usr/local/Ascend/cann-x", "/usr/local/Ascend/cann-x/opp", None, (), ())
RIGHT = {"vllm-ascend": "0.18.0", "vllm": "0.18.0", "torch": "2.9.0", "torch-npu": "2.9.0.post1"}


def planned(chip: Chip = A2, found: Cann | None = None, paths: CannLibraryPath = PATHS, packages: dict[str, str] | None = None, *more: object, goal: str = "", **chosen: Any) -> StepPlan:
    facts = (Machine(arch="aarch64"), chip, found or cann(), paths, Packages(packages or RIGHT), *more)
    return KIND.plan("guide", GuideOperators(goal), context(*facts, **chosen))


def no_at(step: StepPlan) -> list[int]:
    return [number for number, note in enumerate(step.notes[:5], 1) if "? NO:" in note.text.en]


def test_all_five_questions_are_answered_in_their_order() -> None:
    step = planned()
    assert [note.text.en[:2] for note in step.notes[:5]] == ["1.", "2.", "3.", "4.", "5."] and no_at(step) == []
    assert all("? yes:" in note.text.en for note in step.notes[:5]), [note.text.en for note in step.notes[:5]]
    assert step.blocked is not None and "choose one of the routes" in step.blocked.en
    assert any("CPU" in note.text.en for note in step.notes) and any("flash-attn-npu" in note.text.zh for note in step.notes)


@pytest.mark.parametrize(("kernels", "of"), [((), ""), (("ascend310p",), ""), (("ascend910b",), "8.3.RC2")])
def test_missing_operators_lead_to_the_package(kernels: tuple[str, ...], of: str) -> None:
    step = planned(found=cann(kernels=kernels, of=of))
    assert no_at(step) == [1]
    assert step.blocked is not None and "--package" in step.blocked.en
    assert "Ascend-cann-910b-ops_8.5.1_linux-aarch64.run" in step.blocked.en


def test_a_missing_environment_leads_to_set_env() -> None:
    step = planned(paths=CannLibraryPath(None, None, None, (), ()))
    assert no_at(step) == [2] and step.title.en.startswith("Complete the environment")


def test_another_torch_npu_leads_to_the_row_and_not_to_another_cann() -> None:
    step = planned(packages={**RIGHT, "torch-npu": "2.7.1"})
    assert no_at(step) == [3] and "Python packages" in step.title.en


def test_a_cann_that_is_too_new_is_never_taken_back() -> None:
    step = planned(found=cann("9.2.0"))
    assert no_at(step) == [3] and step.blocked is not None and "doctor stack" in step.blocked.en and not step.changes


def test_bfloat16_on_310p_leads_to_float16(tmp_path: Path) -> None:
    script = tmp_path / "serve.sh"
    script.write_text("vllm serve /m --port 1\n")
    serve = ServeCommands((ServeCommand(("vllm", "serve", "/m"), "/m", {}, source=str(script), line=1),))
    step = planned(P310, cann(kernels=("ascend310p",)), PATHS, None, serve)
    assert no_at(step) == [4] and step.blocked is None
    assert "+vllm serve /m --dtype float16 --port 1\n" in step.changes[0].diff()


def test_for_an_unsupported_chip_nothing_else_is_tried() -> None:
    step = planned(OLD_910, cann(kernels=()))
    assert no_at(step) == [1, 4, 5] or no_at(step) == [1, 5]
    assert step.blocked is not None and "no other CANN changes that" in step.blocked.en and not step.changes


def test_a_package_of_one_s_own_is_taken_where_nothing_else_is_wrong(tmp_path: Path) -> None:
    package = run_file(tmp_path / "custom_opp.run", custom_operators())
    step = planned(package=str(package), form="shell", to=str(tmp_path / "environment.sh"))
    assert step.blocked is None, step.blocked
    assert step.changes and "custom operators" in step.title.en


@pytest.mark.parametrize(
    ("chip", "version", "packages", "why"),
    [(P310, "8.5.1", RIGHT, "A2, A3 or 950? NO"), (A2, "8.3.RC2", RIGHT, "CANN 8.5.0 or newer? NO"), (A2, "8.5.1", {**RIGHT, "torch": "2.8.0"}, "torch_npu of torch's version? NO")],
)
def test_flash_attn_npu_is_refused_with_what_it_lacks(chip: Chip, version: str, packages: dict[str, str], why: str) -> None:
    step = planned(chip, cann(version), PATHS, packages, goal="flash-attention")
    assert step.blocked is not None and why in step.blocked.en


def test_flash_attn_npu_where_everything_is_there() -> None:
    assert planned(goal="flash-attention").already
