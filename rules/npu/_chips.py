"""Names and health of the chips of npu-smi's table. Shared by the rules of this folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from doctor.facts.npu import Npu, Npus
from doctor.finding import Evidence


def named(npus: Npus) -> Iterator[tuple[str, Npu]]:
    """Every chip with its name for people: "NPU 3", or "NPU 3 chip 1" where that NPU has several chips."""
    chips = Counter(chip.npu_id for chip in npus.chips)
    for chip in npus.chips:
        several = chips[chip.npu_id] > 1
        yield (f"NPU {chip.npu_id} chip {chip.chip_id}" if several else f"NPU {chip.npu_id}"), chip


def row(npus: Npus, chip: Npu, text: str) -> Evidence:
    """What a row of the table says."""
    return Evidence(npus.source, f"NPU {chip.npu_id} {chip.name}: {text}", npus.line)


def values(chip: Npu) -> dict[str, str]:
    """What fills `<id>` and `<chip_id>` in steps."""
    return {"id": str(chip.npu_id), "chip_id": str(chip.chip_id or 0)}
