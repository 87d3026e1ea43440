"""Whether --gpu-memory-utilization is what left too little: from the flag, and from an NPU-OOM message after the pools were made."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence, Npus
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of

from . import npu_oom

LEFT = 5 * npu_oom.GIB
"""Bytes that communication buffers and workspaces need at least beside the budget; 8 % of a 64 GB card."""


def judge(commands: ServeCommands | None, npus: Npus | None, presence: NpuPresence | None, matches: Matches) -> Iterator[Hit]:
    if matches.looked:
        found = npu_oom.seen(matches)
        value = npu_oom.too_high(found, commands, matches["loaded"]) if found is not None else None
        if found is not None and value is not None:
            said = f"--gpu-memory-utilization {value:g}, and the card ran out of memory after the pools were made"
            yield npu_oom.hit(found, said, Confidence.LIKELY, Severity.FAIL, wanted="0.90 or less")
            return
        if found is None and matches["lowered"]:
            said = "the report says that memory ran out with a high --gpu-memory-utilization"
            yield Hit(found=said, wanted="0.90 or less", evidence=(evidence_of(matches["lowered"]),), confidence=Confidence.LIKELY, basis=Basis.LOG, position=matches["lowered"][0].ordinal + 1)
            return
    if commands is None and not matches.looked:
        raise Skip("no serving command is known")
    if presence is not None and presence.present is False:
        return
    for command in commands.commands if commands is not None else ():
        given = max(npu_oom.utilizations(ServeCommands((command,))), default=0.0)
        sizes = [chip.hbm_total_mb * 2**20 for chip in (npus.chips if npus is not None else ()) if chip.hbm_total_mb]
        total = min(sizes, default=64 * npu_oom.GIB)
        fixed = "kv-cache-memory-bytes" in command.flags  # then the utilization is not used
        if given > 0.92 and (1 - given) * total < LEFT and not fixed:
            yield Hit(
                found=f"--gpu-memory-utilization {given:g} leaves {npu_oom.shown(int((1 - given) * total))} of {npu_oom.shown(total)}",
                wanted="5 GiB or more, which is 0.92 on a 64 GB card",
                evidence=(Evidence(command.source or "command", f"--gpu-memory-utilization {given:g}", command.line),),
                confidence=Confidence.LIKELY,
                severity=Severity.NOTE,
            )
            return
