"""npu-health-unknown: a chip is in the table, but its health is UNKNOWN."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.finding import Hit

from ._chips import named, row, values


def judge(npus: Npus) -> Iterator[Hit]:
    for subject, chip in named(npus):
        if chip.health == "UNKNOWN":
            yield Hit(subject, "health UNKNOWN", "OK", (row(npus, chip, "Health UNKNOWN"),), values=values(chip))
