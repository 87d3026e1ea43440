"""The arithmetic of NPU-OOM messages, and which sentences of a report count as growing memory."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.leftovers import Segment, Segments
from doctor.facts.vllm import VllmProcesses
from doctor.rulepackage import rules_package

rules_package()
npu_oom: Any = importlib.import_module("doctor.rules.memory.npu_oom")
growth: Any = importlib.import_module("doctor.rules.leak.growth")
GIB = npu_oom.GIB


def line(wanted: str, total: str, allocated: str, free: str, reserved: str) -> str:
    return (
        f"NPU out of memory. Tried to allocate {wanted} (NPU 5; {total} total capacity; {allocated} already allocated; "
        f"{allocated} current active; {free} free; {reserved} reserved in total by PyTorch)"
    )


def test_every_number_is_read_in_bytes() -> None:
    oom = npu_oom.parse(line("22.00 MiB", "60.97 GiB", "10.24 GiB", "512 bytes", "10.65 GiB"))
    assert (oom.device, oom.wanted, oom.free) == ("5", 22 * 2**20, 512)
    assert oom.outside == oom.total - oom.reserved - 512
    assert oom.complete


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (line("22.00 MiB", "60.97 GiB", "10.24 GiB", "19.79 MiB", "10.65 GiB"), "OTHER_PROCESS"),
        (line("3.47 GiB", "60.97 GiB", "58.92 GiB", "1.66 GiB", "58.95 GiB"), "SHORTAGE"),
        (line("1.42 GiB", "60.96 GiB", "40.10 GiB", "611.23 MiB", "55.02 GiB"), "FRAGMENTATION"),
        (line("1.50 GiB", "60.96 GiB", "50.10 GiB", "1.02 GiB", "50.60 GiB"), "UNDECIDED"),
        (line("2.00 MiB", "60.96 GiB", "0 bytes", "58.59 GiB", "0 bytes"), "UNDECIDED"),
        ("NPU out of memory. NPUWorkspaceAllocator tried to allocate 1.89 GiB(NPU 7; 60.96 GiB total capacity; 1.82 GiB free)", "WORKSPACE"),
        ("NPU out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit", "FRACTION"),
        ("NPU out of memory. device id: 3", "UNDECIDED"),
        ("NPU out of memory. Tried to allocate ...", "UNDECIDED"),
    ],
)
def test_the_numbers_decide(text: str, cause: str) -> None:
    assert npu_oom.parse(text).cause is npu_oom.Cause[cause]


def test_a_limit_of_the_process_is_not_a_full_card() -> None:
    text = line("2.00 GiB", "60.96 GiB", "17.10 GiB", "41.00 GiB", "17.60 GiB").replace(" free; ", " free; 18.29 GiB allowed; ")
    assert npu_oom.parse(text).cause is npu_oom.Cause.FRACTION


def test_the_newer_wording_of_torch_is_read_too() -> None:
    oom = npu_oom.parse(
        "NPU out of memory. Tried to allocate 2.00 GiB. NPU 3 has a total capacity of 60.96 GiB of which 1.00 GiB is free. "
        "Of the allocated memory 58.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."
    )
    assert (oom.device, oom.reserved) == ("3", 59 * GIB)


@given(st.text(max_size=300))
def test_no_text_breaks_the_readers(text: str) -> None:
    for prefix in ("", "NPU out of memory. Tried to allocate ", "memory keeps growing ", "内存持续增长"):
        oom = npu_oom.parse(prefix + text)
        assert oom is None or oom.cause in npu_oom.Cause
        assert growth.read(prefix + text) is None or len(growth.read(prefix + text)) == 2


def test_a_huge_line_is_read_in_reasonable_effort() -> None:
    assert growth.read("memory " * 200_000 + "grows") is None  # only the beginning of a line is looked at
    assert npu_oom.parse("NPU out of memory. Tried to allocate " + "9" * 500_000 + " GiB").wanted is None


@pytest.mark.parametrize(
    ("text", "where", "who"),
    [
        ("RssAnon of the decode workers keeps growing by 2 GiB/h", "HOST", "WORKER"),
        ("EngineCore 进程内存持续上涨，Worker 平稳", "HOST", "ENGINE"),
        ("压测后显存占用持续上涨，不下降", "DEVICE", "UNTOLD"),
        ("HBM占用不断增加", "DEVICE", "UNTOLD"),
        ("推理存在cpu内存泄漏", "HOST", "UNTOLD"),
        ("The KV cache blocks of the prefill node are never released", "KV", "UNTOLD"),
        ("mooncake_master memory grows beyond its segment", "UNTOLD", "MOONCAKE"),
        ("负载均衡代理进程的内存持续上涨", "HOST", "GATEWAY"),
    ],
)
def test_an_observation_counts(text: str, where: str, who: str) -> None:
    assert growth.read(text) == (growth.Where[where], growth.Who[who])


@pytest.mark.parametrize(
    "text",
    [
        "Does vLLM leak memory?",
        "vLLM 会不会内存泄漏",
        "如果内存持续增长，请升级",
        "There is no memory leak",
        "Fixed a memory leak in the scheduler",
        "修复内存泄漏问题",
        "resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown",
        "Try increasing `gpu_memory_utilization` when initializing the engine.",
        "container_memory_working_set_bytes keeps increasing",
        "worker memory stays flat",
        "GPU memory usage increases with batch size",
        "Using a larger block size, which increases memory usage",
        "预热期间显存有所增加",
        "GPU KV cache size: 559,232 tokens",
    ],
)
def test_questions_denials_and_advice_do_not(text: str) -> None:
    assert growth.read(text) is None


@pytest.mark.parametrize(
    ("names", "found"),
    [(["psm_0a1b2c3d"], True), (["sem.mp-7ugmg257"], False), ([f"sem.mp-x{number:06}" for number in range(60)], True), ([], False)],
    ids=["a segment", "one semaphore", "sixty semaphores", "nothing"],
)
def test_a_lone_semaphore_in_shared_memory_is_no_leftover(names: list[str], found: bool) -> None:
    stale: Any = importlib.import_module("doctor.rules.leak.leak_shm_stale_segments")
    segments = Segments(tuple(Segment(f"/dev/shm/{name}", 32, age=7200.0) for name in names))
    assert bool(list(stale.judge({"leaked": ()}, segments, VllmProcesses(())))) is found
