"""Whether the numbers of an NPU-OOM message show that torch itself has filled the card."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import npu_oom


def judge(commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is None or found.oom.cause is not npu_oom.Cause.SHORTAGE:
        return
    oom = found.oom
    if npu_oom.too_high(found, commands, matches["loaded"]) is not None:
        return  # the pool was made too large, not the model: memory-utilization-too-high
    started = any(match.ordinal < found.match.ordinal for match in matches["loaded"])
    said = f"{npu_oom.shown(oom.allocated)} of {npu_oom.shown(oom.total)} are allocated by torch itself ({oom.used_share or 0:.1%})"
    yield npu_oom.hit(found, said, Confidence.LIKELY if started else Confidence.SURE, wanted="at most 93 % of the card")
