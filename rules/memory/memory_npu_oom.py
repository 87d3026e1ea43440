"""NPU-OOM messages whose numbers are missing, or decide for none of the causes that have a rule of their own."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches, evidence_of

from . import npu_oom


def judge(npus: Npus | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is None:
        yield from _mentioned(matches)
        return
    oom = found.oom
    if oom.cause is not npu_oom.Cause.UNDECIDED or npu_oom.too_high(found, commands, matches["loaded"]) is not None:
        return
    if oom.outside is not None and oom.outside > npu_oom.SOME_OUTSIDE and npu_oom.shared_card(npus, oom.device):
        return
    yield npu_oom.hit(found, _said(oom), Confidence.LIKELY, wanted="free memory on the card")


def _said(oom: npu_oom.NpuOom) -> str:
    if oom.form is npu_oom.Form.ABSURD:
        return "more than 1 EB was asked for: a wrong size, not a full card"
    if not oom.complete:
        return "the message tells no numbers"
    return (
        f"{npu_oom.shown(oom.wanted)} wanted, {npu_oom.shown(oom.free)} free, {npu_oom.shown(oom.allocated)} allocated, "
        f"{npu_oom.shown(oom.reserved)} reserved, {npu_oom.shown(oom.outside)} outside the torch pool, of {npu_oom.shown(oom.total)}"
    )


def _mentioned(matches: Matches) -> Iterator[Hit]:
    lines = matches["oom"] or matches["other"]
    told = tuple(match for match in lines if not npu_oom.is_advice(match.text) and not (matches["set"] and "max_split_size_mb" in match.text))
    if told:
        yield Hit(
            found="the report says that NPU memory ran out, without the numbers of the message",
            wanted="free memory on the card",
            evidence=(evidence_of(told),),
            confidence=Confidence.POSSIBLE,
            position=told[0].ordinal + 1,
            basis=Basis.LOG,
        )
