"""What would be done, on which cards, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from doctor.facts.npu import Npu, NpuProcess, Npus
from doctor.smoke.plan import Plan, Reason, Refusal, plan
from doctor.smoke.request import Card, Request, Seen, cards_of

CPU = Seen(python="/venv/bin/python", environment={"HOME": "/root"}, packages={"vllm": "0.32.0"})
FREE = tuple(Card(number, "910B3", 3400, 65536) for number in range(4))
NPU = replace(CPU, npu=True, family="a2", chip="910B3", cards=FREE, nodes=(0, 1, 2, 3))


def states(planned: Plan) -> Mapping[str, str]:
    return {step.id: step.skip.key if step.skip else "run" for step in planned.steps}


def test_level_1_is_the_device_alone_and_quick() -> None:
    planned = plan(Request(level=1), CPU)
    assert states(planned) == {
        "device": "run", "operators": "skip_level", "cards": "skip_level", "engine": "skip_level", "model": "skip_no_model", "server": "skip_level",
    }  # fmt: skip
    assert planned.usual < 30


def test_level_2_goes_through_the_engine() -> None:
    assert states(plan(Request(), NPU)) == {
        "device": "run", "operators": "run", "cards": "run", "engine": "run", "model": "skip_no_model", "server": "skip_no_server",
    }  # fmt: skip


def test_level_3_adds_graph_mode_tensor_parallel_and_a_server() -> None:
    planned = plan(Request(level=3), NPU)
    engine = next(step for step in planned.steps if step.id == "engine")
    assert engine.job["modes"] == [
        {"eager": True, "tensor_parallel": 1}, {"eager": False, "tensor_parallel": 1}, {"eager": True, "tensor_parallel": 4},
    ]  # fmt: skip
    assert states(planned)["model"] == "run"


def test_tensor_parallel_takes_a_power_of_two() -> None:
    engine = next(step for step in plan(Request(level=3, cards=(0, 1, 3)), NPU).steps if step.id == "engine")
    assert engine.job["modes"][-1]["tensor_parallel"] == 2


def test_on_one_card_the_cards_are_not_tested_together() -> None:
    assert states(plan(Request(cards=(2,)), NPU))["cards"] == "skip_one_card"


@pytest.mark.parametrize(
    ("seen", "device"),
    [(CPU, "cpu"), (NPU, "npu"), (replace(CPU, packages={"torch-npu": "2.13.0"}), "npu")],
    ids=["nothing", "an NPU", "torch_npu alone: then the missing device is what is wrong"],
)
def test_the_device_is_found(seen: Seen, device: str) -> None:
    assert plan(Request(), seen).device == device


def test_the_cards_asked_for_are_the_only_ones_that_a_child_sees() -> None:
    planned = plan(Request(cards=(1, 3)), NPU)
    assert planned.environment["ASCEND_RT_VISIBLE_DEVICES"] == "1,3"
    assert next(step for step in planned.steps if step.id == "device").job["cards"] == [0, 1]


def test_the_cards_of_the_target_are_kept() -> None:
    seen = replace(NPU, environment={"ASCEND_RT_VISIBLE_DEVICES": "2,3"})
    assert plan(Request(), seen).cards == (2, 3)


def busy(*numbers: int) -> Seen:
    return replace(NPU, cards=tuple(replace(card, user="VLLM::Worker (4711)" if card.number in numbers else "") for card in FREE))


def test_a_busy_card_that_was_asked_for_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        plan(Request(cards=(1,)), busy(1))
    assert (refused.value.key, refused.value.values) == ("refused_busy", {"card": 1, "user": "VLLM::Worker (4711)", "free": "0,2,3"})


def test_a_busy_card_is_used_when_told() -> None:
    assert plan(Request(cards=(1,), use_busy=True), busy(1)).cards == (1,)


def test_without_a_choice_the_free_cards_are_taken() -> None:
    assert plan(Request(), busy(0, 1)).cards == (2, 3)


def test_where_all_are_busy_it_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        plan(Request(), busy(0, 1, 2, 3))
    assert refused.value.values["free"] == "-"


def test_where_all_are_busy_with_a_server_the_server_alone_is_tested() -> None:
    planned = plan(Request(), replace(busy(0, 1, 2, 3), url="http://127.0.0.1:8000", server_pid=4700))
    assert set(states(planned).values()) == {"run", "skip_busy", "skip_no_model"} or states(planned)["server"] == "run"
    assert [step.id for step in planned.running] == ["server"] and planned.card_mb is None


def test_a_card_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        plan(Request(cards=(9,)), NPU)
    assert refused.value.values == {"cards": "9", "there": "0,1,2,3"}


def test_without_an_interpreter_only_a_server_can_be_tested() -> None:
    with pytest.raises(Refusal):
        plan(Request(), replace(CPU, python=""))
    assert plan(Request(url="http://127.0.0.1:8000"), replace(CPU, python="")).running


def test_what_it_takes_is_told() -> None:
    planned = plan(Request(load=8, load_seconds=30, model="/models/x"), NPU)
    assert planned.usual < planned.deadline and planned.host_mb is None and planned.card_mb is None
    assert plan(Request(), NPU).card_mb == 2048 + 65536 // 5 and plan(Request(level=1), NPU).card_mb == 2048


def test_the_deadlines_follow_the_scale() -> None:
    assert plan(Request(scale=3.0), NPU).deadline == pytest.approx(3 * plan(Request(), NPU).deadline)


def test_the_key_is_in_no_job_and_in_no_text_of_the_plan() -> None:
    planned = plan(Request(url="http://127.0.0.1:8000", model="/m", key="s3cret-key"), CPU)
    assert "s3cret-key" not in repr([step.job for step in planned.steps]) and "s3cret-key" not in repr(replace(planned, steps=()))
    assert planned.secrets == ("s3cret-key",)


def test_310p_computes_no_bf16() -> None:
    jobs = [step.job["dtype"] for step in plan(Request(), replace(NPU, family="310p")).steps if step.id == "engine"]
    assert jobs == ["float16"]


def test_cards_are_numbered_in_the_order_of_npu_smi_and_know_their_users() -> None:
    npus = Npus(
        (
            Npu(1, 0, "910B3", hbm_used_mb=3400, hbm_total_mb=65536),
            Npu(0, 0, "910B3", hbm_used_mb=30000, hbm_total_mb=65536),
            Npu(2, 0, "910B3", hbm_used_mb=3300, hbm_total_mb=65536),
        ),
        (NpuProcess(2, 0, 4711, "python3", 20000),),
    )
    assert [(card.number, card.user) for card in cards_of(npus)] == [(0, "30000 MB"), (1, ""), (2, "python3 (4711)")]


def test_two_chips_of_one_npu_are_two_cards() -> None:
    npus = Npus(tuple(Npu(npu, chip, "Ascend910", hbm_used_mb=3000, hbm_total_mb=65536) for npu in (0, 1) for chip in (0, 1)), (NpuProcess(1, 1, 7, "python3"),))
    assert [card.user for card in cards_of(npus)] == ["", "", "", "python3 (7)"]


def test_a_reason_is_a_key_of_the_words() -> None:
    from doctor.smoke.words import WORDS

    reasons = [step.skip for seen in (CPU, NPU, busy(0, 1, 2, 3)) for step in plan(Request(level=1, url="http://h:1"), seen).steps if step.skip]
    assert reasons and all(isinstance(reason, Reason) and reason.key in WORDS for reason in reasons)


@pytest.mark.parametrize(
    ("chip", "family", "should"),
    [
        ("910B3", "a2", [294.9, 1600.0]), ("Ascend910B4", "a2", [245.8, None]), ("Ascend910", "a3", [353.9, 1600.0]), ("9392", "a3", [363.7, 1600.0]),
        ("310P3", "310p", [69.5, 204.0]), ("Ascend950PR", "950", []), ("910B9", "a2", []), ("", "", []),
    ],
)  # fmt: skip
def test_what_a_chip_should_give_is_told_where_it_was_published(chip: str, family: str, should: list[float | None]) -> None:
    operators = next(step for step in plan(Request(), replace(NPU, chip=chip, family=family)).steps if step.id == "operators")
    assert operators.job["should"] == should
