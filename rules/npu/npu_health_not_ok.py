"""npu-health-not-ok: a chip is not OK, and no fault code of it has a cause of its own."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npu, NpuDetail, Npus
from doctor.finding import Confidence, Hit, Severity

from ._chips import named, row, values
from ._codes import entry

SEVERITIES = {"Warning": Severity.WARN, "Alarm": Severity.FAIL, "Critical": Severity.FAIL}


def judge(npus: Npus, detail: NpuDetail | None) -> Iterator[Hit]:
    for subject, chip in named(npus):
        health = chip.health or ""
        if health not in SEVERITIES or _graded(chip, detail):
            continue
        pasted = npus.line > 0
        yield Hit(
            subject,
            f"health {health}",
            "OK",
            (row(npus, chip, f"Health {health}"),),
            # A pasted table shows the moment of asking, seldom that of the failure.
            confidence=Confidence.POSSIBLE if pasted else Confidence.SURE,
            severity=Severity.WARN if pasted else SEVERITIES[health],
            values={"health": health, **values(chip)},
        )


def _graded(chip: Npu, detail: NpuDetail | None) -> bool:
    """Whether a fault code that explains the state is known: its level's own cause tells more."""
    codes = detail.fault_codes.get((chip.npu_id, chip.chip_id or 0), ()) if detail else ()
    return any(entry(code) is not None for code in codes)
