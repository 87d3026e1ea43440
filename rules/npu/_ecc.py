"""ECC counters of NPU memory, by chip and in a pasted answer of npu-smi. Shared by the rules of this folder."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Basis, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of

from ._codes import chip_name

ISOLATED = "HBM Double Bit Isolated Pages Count"
SOME, MANY = 16, 64
"""Isolated rows from which the vendor calls it a warning, and from which the card is replaced."""


def counters(detail: NpuDetail | None, name: str) -> Iterator[tuple[int, int, str, int]]:
    """(NPU id, chip id, name of the chip, value) of one counter for every chip that tells it."""
    for (npu, chip), values in (detail.ecc if detail else {}).items():
        if name in values:
            yield npu, chip, chip_name(npu, chip, detail.ecc if detail else ()), values[name]


def counted(npu: int, chip: int, subject: str, name: str, value: int, wanted: str) -> Hit:
    """A hit for one counter of one chip."""
    evidence = Evidence(f"npu-smi info -t ecc -i {npu}", f"{name} : {value}")
    return Hit(subject, f"{name} is {value}", wanted, (evidence,), values={"id": str(npu), "chip_id": str(chip), "count": str(value)})


def pasted(matches: Matches, name: str, wanted: str) -> Iterator[Hit]:
    """A hit for the pasted lines of the pattern `name`."""
    lines = matches[name]
    if lines:
        yield Hit(
            found=lines[0].text[:200], wanted=wanted, evidence=(evidence_of(lines, matches.count(name)),), values=lines[0].groups,
            basis=Basis.LOG, position=lines[0].ordinal + 1,
        )  # fmt: skip
