"""Cards that something else uses while no vLLM runs: the next start would be refused or find less."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npu, Npus
from doctor.facts.vllm import VllmProcesses
from doctor.finding import Confidence, Evidence, Hit, Severity

USED_SHARE = 0.15
"""Of the card's memory; an idle chip uses 1.4 GB (310P) to 6.6 GB (950), at most 6 %."""


def judge(npus: Npus, vllm: VllmProcesses) -> Iterator[Hit]:
    if vllm.processes:
        return
    for chip in npus.chips:
        if chip.hbm_total_mb and (chip.hbm_used_mb or 0) > USED_SHARE * chip.hbm_total_mb:
            yield _hit(chip, npus)


def _hit(chip: Npu, npus: Npus) -> Hit:
    owners = [p for p in npus.processes if (p.npu_id, p.chip_id or 0) == (chip.npu_id, chip.chip_id or 0)]
    told = ", ".join(f"pid {p.pid} {p.name} {p.memory_mb} MB" for p in owners[:8]) or "no process is shown"
    free = (chip.hbm_total_mb or 0) - (chip.hbm_used_mb or 0)
    return Hit(
        subject=f"NPU {chip.npu_id}" + (f" chip {chip.chip_id}" if chip.chip_id else ""),
        found=f"{chip.hbm_used_mb} of {chip.hbm_total_mb} MB are used while no vLLM runs; {told}",
        wanted="a card that is free before the start",
        evidence=(Evidence(npus.source, f"HBM-Usage {chip.hbm_used_mb} / {chip.hbm_total_mb}", npus.line),),
        confidence=Confidence.LIKELY,
        severity=Severity.NOTE,
        values={"free": f"{free / 1024:.1f}", "total": f"{(chip.hbm_total_mb or 0) / 1024:.1f}"},
    )
