"""npu-hbm-double-bit-ecc: the current counter is a fault, the total alone a note."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.npu import NpuDetail
from doctor.finding import Hit, Severity, Skip
from doctor.logscan.signature import Matches

from ._ecc import counted, counters, pasted

CURRENT, TOTAL = "HBM Double Bit Error Count", "HBM Double Bit Aggregate Total Err Cnt"


def judge(detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    if detail is None and not matches.looked:
        raise Skip("npu-smi info -t ecc is not known, and no log was given")
    current = {(npu, chip): value for npu, chip, _, value in counters(detail, CURRENT)}
    for npu, chip, subject, value in counters(detail, CURRENT):
        if value > 0:
            yield counted(npu, chip, subject, CURRENT, value, "0")
    for npu, chip, subject, value in counters(detail, TOTAL):
        if value > 0 and not current.get((npu, chip)):
            yield replace(counted(npu, chip, subject, TOTAL, value, "0"), severity=Severity.NOTE)
    yield from pasted(matches, "counted", "0")
