"""Entries of other ranks in the process table of the first NPU: each about 107 MB, and the same pid on its own card."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuProcess, Npus
from doctor.finding import Evidence, Hit

SMALLEST_MB, LARGEST_MB = 60, 200
"""A bare context takes about 107 MB; a job takes gigabytes."""
JOB_MB = 1024


def judge(npus: Npus) -> Iterator[Hit]:
    if not npus.processes:
        return
    first = min((chip.npu_id, chip.chip_id or 0) for chip in npus.chips) if npus.chips else (0, 0)
    elsewhere = {process.pid for process in npus.processes if _chip(process) != first}
    here = [process for process in npus.processes if _chip(process) == first]
    small = [process for process in here if SMALLEST_MB <= (process.memory_mb or 0) <= LARGEST_MB]
    several = len(small) > 1 and any((process.memory_mb or 0) > JOB_MB for process in here)  # where a text shows only this card
    extra = [process for process in small if process.pid in elsewhere or several]
    if extra:
        total = sum(process.memory_mb or 0 for process in extra)
        pids = ", ".join(str(process.pid) for process in extra[:16])
        yield Hit(
            subject=f"NPU {first[0]}",
            found=f"{len(extra)} processes of other cards hold {total} MB here (pid {pids})",
            wanted="only the process of this card",
            evidence=(Evidence(npus.source, f"pid {extra[0].pid} {extra[0].name} {extra[0].memory_mb} MB", npus.line),),
        )


def _chip(process: NpuProcess) -> tuple[int, int]:
    return process.npu_id, process.chip_id or 0
