"""npu-two-processes-one-card: two processes that are not of one server hold more than 1 GiB each on one chip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.facts.npu import NpuProcess, Npus
from doctor.facts.vllm import VllmProcesses
from doctor.finding import Confidence, Evidence, Hit

LARGE_MB = 1024
"""A second context of the same server takes about 107 MB; a server that holds a model takes many GiB."""


def judge(npus: Npus, vllm: VllmProcesses | None) -> Iterator[Hit]:
    roots = _roots(vllm)
    chips: dict[tuple[int, int], list[NpuProcess]] = {}
    for process in npus.processes:
        if (process.memory_mb or 0) > LARGE_MB:
            chips.setdefault((process.npu_id, process.chip_id or 0), []).append(process)
    for (npu, chip), found in sorted(chips.items()):
        if len({roots.get(process.pid, process.pid) for process in found}) < 2:
            continue
        told = ", ".join(f"pid {process.pid} {process.name} {process.memory_mb} MB" for process in found[:4])
        yield Hit(
            f"NPU {npu} chip {chip}",
            told,
            "one serving process",
            (Evidence(npus.source, told, npus.line),),
            confidence=Confidence.POSSIBLE if npus.line else Confidence.LIKELY,
            values={"id": str(npu), "pids": ",".join(str(process.pid) for process in found[:4])},
        )


def _roots(vllm: VllmProcesses | None) -> Mapping[int, int]:
    """Pid -> the topmost vLLM process above it."""
    parents = {process.pid: process.ppid for process in vllm.processes} if vllm else {}
    roots: dict[int, int] = {}
    for pid in parents:
        top, steps = pid, 0
        while parents.get(top) in parents and steps < len(parents):
            top, steps = parents[top], steps + 1
        roots[pid] = top
    return roots
