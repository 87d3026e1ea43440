"""What a chip can give at the most: dense fp16 matmul and memory, each number with its source. An indication: a part is reached in practice.

TFLOP/s are those of the cube cores alone, which is what a matmul uses: cores x (16 x 16 x 16 multiply-adds a cycle) x 2 x clock, from CANN's own
table of chips (https://github.com/hicann/runtime, src/platform/platform_config/*.ini of 2026-08-22, `cube_core_cnt` or `ai_core_cnt`,
`cube_freq`). Product pages are higher by the vector cores: 376 where the cubes of a 910B2 give 353.9
(https://gitcode.com/cann/ops-cv/issues/997, 2026-09-20). A number without a source is not here; nor is the 950, whose variants reach from
378 to 531 and are all "Ascend950PR" or "Ascend950DT" to npu-smi.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MACS = 16 * 16 * 16


@dataclass(frozen=True)
class Peak:
    """Of one chip (one die of a 910C). `bandwidth`: GB/s of its memory, None where nobody published it."""

    tflops: float
    bandwidth: float | None


def _peak(cores: int, mhz: int, bandwidth: float | None) -> Peak:
    return Peak(round(cores * _MACS * 2 * mhz / 1e6, 1), bandwidth)


_A2_HBM = 1600.0
"""1.6 TB/s, Atlas A2 with 64 GB: the table "specifications of generations" of https://gitcode.com/cann/ops-cv (cross_platform_migration_guide.md, as quoted
in issue 997, 2026-09-20), and https://gitcode.com/Ascend/DrivingSDK (performance-predict, read 2026-11-30). None was found for the 910B4 with 32 GB."""
_A3_HBM = 1600.0
"""3.2 TB/s for the two dies of a 910C: the same table of DrivingSDK."""
_DUO = 204.0
"""408 GB/s for the two chips of an Atlas 300I Duo: https://www.elektronikpraxis.de, "Huawei zeigt mit der Atlas 300i Duo den Weg", read 2026-11-30."""

BY_CHIP: Mapping[str, Peak] = {
    "910B1": _peak(24, 1850, _A2_HBM),
    "910B2": _peak(24, 1800, _A2_HBM),
    "910B2C": _peak(24, 1800, _A2_HBM),
    "910B3": _peak(20, 1800, _A2_HBM),
    "910B4": _peak(20, 1500, None),
    "910B4-1": _peak(20, 1500, None),
    "910_9362": _peak(20, 1500, _A3_HBM),
    "910_9372": _peak(20, 1800, _A3_HBM),
    "910_9381": _peak(24, 1800, _A3_HBM),
    "910_9382": _peak(24, 1800, _A3_HBM),
    "910_9391": _peak(24, 1850, _A3_HBM),
    "910_9392": _peak(24, 1850, _A3_HBM),
    "310P1": _peak(10, 1060, None),
    "310P3": _peak(8, 1060, _DUO),
    "310P5": _peak(8, 800, None),
    "310P7": _peak(8, 550, None),
}
BY_FAMILY: Mapping[str, Peak] = {"a3": BY_CHIP["910_9382"]}
"""Where npu-smi does not tell which: it calls every die of an Atlas A3 "Ascend910". 708 TFLOP/s for a 910C of two dies (DrivingSDK) are this one's."""


def peak(chip: str, family: str) -> Peak | None:
    """The numbers for a chip as npu-smi calls it ("910B3", "Ascend910B3", "9382"), else for its family; None where nothing is known."""
    name = chip.strip().removeprefix("Ascend").strip()
    return BY_CHIP.get(name) or BY_CHIP.get(f"910_{name}") or BY_FAMILY.get(family)


__all__ = ["BY_CHIP", "BY_FAMILY", "Peak", "peak"]
