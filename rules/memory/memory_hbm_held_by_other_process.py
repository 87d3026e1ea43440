"""Whether the numbers of an NPU-OOM message, or npu-smi's process table, show that somebody else holds the card."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import npu_oom


def judge(npus: Npus | None, matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is None:
        return
    oom = found.oom
    said = f"{npu_oom.shown(oom.outside)} of {npu_oom.shown(oom.total)} on NPU {oom.device or '?'} are held outside this process, which reserved {npu_oom.shown(oom.reserved)}"
    if oom.cause is npu_oom.Cause.OTHER_PROCESS:
        yield npu_oom.hit(found, said, wanted="at most 11 GiB outside the torch pool")
        return
    others = npu_oom.shared_card(npus, oom.device)
    if others and oom.outside is not None and oom.outside > npu_oom.SOME_OUTSIDE:
        yield npu_oom.hit(found, f"{said}; on that card: {', '.join(others)[:200]}", Confidence.LIKELY, wanted="one job on the card")
