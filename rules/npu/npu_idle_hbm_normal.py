"""npu-idle-hbm-normal: what a chip without a process has in use is the base use of its product."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Chip, Npus
from doctor.finding import Evidence, Hit, Skip

BASE_MB = {"a2": (2500, 4500), "a3": (2500, 4500), "950": (4500, 7000), "310p": (1000, 2000)}
"""Chip family -> memory in use that was seen on idle chips."""


def judge(npus: Npus, chip: Chip) -> Iterator[Hit]:
    if npus.line:
        raise Skip("a pasted table may lack its processes")
    if chip.family not in BASE_MB:
        raise Skip(f"the base use of {chip.name} is not known")
    low, high = BASE_MB[chip.family]
    busy = {(process.npu_id, process.chip_id or 0) for process in npus.processes}
    idle = [npu for npu in npus.chips if (npu.npu_id, npu.chip_id or 0) not in busy]
    used = [value for npu in idle if (value := npu.ddr_used_mb if chip.family == "310p" else npu.hbm_used_mb) is not None]
    if used and all(low <= value <= high for value in used):
        found = f"{min(used)} to {max(used)} MB in use on {len(used)} idle chips"
        yield Hit(found=found, wanted=f"{low} to {high} MB", evidence=(Evidence(npus.source, found),))
