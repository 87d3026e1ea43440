"""Whether the numbers of an NPU-OOM message show that a limit of this process, and not the card, was reached."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Hit
from doctor.logscan.signature import Matches

from . import npu_oom


def judge(matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is not None and found.oom.cause is npu_oom.Cause.FRACTION and found.oom.allowed is not None:
        oom = found.oom
        said = f"{npu_oom.shown(oom.wanted)} wanted and {npu_oom.shown(oom.free)} free, but only {npu_oom.shown(oom.allowed)} are allowed to this process"
        yield npu_oom.hit(found, said, wanted="no fraction, or a larger one")
