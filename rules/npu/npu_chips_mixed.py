"""npu-chips-mixed: more than one chip name, or HBM sizes that differ."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.finding import Evidence, Hit

APART = 0.05
"""Isolated rows and reserves make the sizes of equal chips differ by less than this share."""


def judge(npus: Npus) -> Iterator[Hit]:
    names = sorted({chip.name for chip in npus.chips})
    sizes = [chip.hbm_total_mb for chip in npus.chips if chip.hbm_total_mb]
    apart = bool(sizes) and (max(sizes) - min(sizes)) / max(sizes) > APART
    if len(names) > 1 or apart:
        found = ", ".join(names) + (f"; HBM {min(sizes)} to {max(sizes)} MB" if apart else "")
        yield Hit(found=found, wanted="one type", evidence=(Evidence(npus.source, found, npus.line),))
