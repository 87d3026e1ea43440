"""Memory that ran out after a good start, on a release that measured too little of what lies outside torch."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches, evidence_of
from doctor.versions import Scheme, satisfies

from . import npu_oom

AFFECTED = "< 0.15.0rc1"


def judge(packages: Packages, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    version = packages.versions.get("vllm-ascend")
    if version is None or not satisfies(version, AFFECTED, Scheme.PACKAGE):
        return
    lines = (found.match,) if found is not None else matches["oom"]
    if not lines or (found is not None and found.oom.cause not in (npu_oom.Cause.UNDECIDED, npu_oom.Cause.SHORTAGE)):
        return
    if matches["hours"] and all(value >= npu_oom.HIGH_UTILIZATION for value in npu_oom.utilizations(commands)):
        yield Hit(
            found=f"vllm-ascend {version} ran out of NPU memory after a good start",
            wanted="vllm-ascend 0.15.0rc1 or later",
            evidence=(evidence_of(lines), evidence_of(matches["hours"])),
            confidence=Confidence.LIKELY,
            basis=Basis.BOTH,
            position=lines[0].ordinal + 1,
        )
