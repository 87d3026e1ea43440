"""npu-hbm-capacity-low: the HBM of a chip is below what its name promises."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Chip, Npus
from doctor.finding import Hit, Skip

from ._chips import named, row, values

RATED_MB = {"910A": 32768, "910PROA": 32768, "910PROB": 32768, "910B4": 32768, "910B1": 65536, "910B2": 65536, "910B2C": 65536,
            "910B3": 65536, "910B4-1": 65536}  # fmt: skip
A3_DIE_MB = 65536
ENOUGH, SLICE = 0.95, 0.5
"""Below the first share something is missing; at or below the second it is a share of a card (vNPU), not a fault."""


def judge(npus: Npus, chip: Chip | None) -> Iterator[Hit]:
    looked = False
    for subject, npu in named(npus):
        name = npu.name.upper().removeprefix("ASCEND").replace(" ", "")
        rated = A3_DIE_MB if chip is not None and chip.family == "a3" else RATED_MB.get(name)
        if rated is None or not npu.hbm_total_mb:
            continue
        looked = True
        if SLICE < npu.hbm_total_mb / rated < ENOUGH:
            found = f"{npu.hbm_total_mb} MB"
            yield Hit(subject, f"HBM of {found}", f"{rated} MB", (row(npus, npu, f"HBM {found}"),), values=values(npu))
    if not looked:
        raise Skip("no chip whose rated HBM is known")
