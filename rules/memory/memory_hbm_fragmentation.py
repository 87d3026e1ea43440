"""Whether the numbers of an NPU-OOM message show a pool in pieces: enough is reserved, but no block of that size."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import npu_oom


def judge(matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is None or found.oom.cause is not npu_oom.Cause.FRAGMENTATION:
        return
    oom = found.oom
    said = (
        f"{npu_oom.shown(oom.reserved)} reserved, {npu_oom.shown(oom.allocated)} allocated: {npu_oom.shown(oom.scattered)} lie idle, "
        f"yet {npu_oom.shown(oom.wanted)} in one piece are not to be had"
    )
    confidence = Confidence.SURE if oom.very_scattered else Confidence.LIKELY
    yield npu_oom.hit(found, said, confidence, wanted="a free block of that size within the reserved memory")
