"""npu-hbm-isolated-16: 16 to 63 isolated rows, or the fault code of that threshold."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from ._codes import with_codes
from ._ecc import ISOLATED, MANY, SOME, counted, counters, pasted


def judge(detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    yield from with_codes(("80E18401",), detail, matches)
    for npu, chip, subject, value in counters(detail, ISOLATED):
        if SOME <= value < MANY:
            yield counted(npu, chip, subject, ISOLATED, value, f"less than {SOME}")
    yield from pasted(matches, "pages", f"less than {SOME}")
