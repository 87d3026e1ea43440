"""A pool in pieces: from the numbers of an NPU-OOM message, and from growth under changing image sizes on releases without growing segments."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Environment, Packages
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.versions import Scheme, satisfies

from ..leak import growth
from . import npu_oom

WITHOUT_SEGMENTS = "< 0.14.0rc1"
"""From 0.14.0rc1 on the plugin switches growing segments on itself."""


def judge(packages: Packages | None, environment: Environment | None, matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is None:
        yield from _growing(packages, environment, matches)
        return
    if found.oom.cause is not npu_oom.Cause.FRAGMENTATION:
        return
    oom = found.oom
    said = (
        f"{npu_oom.shown(oom.reserved)} reserved, {npu_oom.shown(oom.allocated)} allocated: {npu_oom.shown(oom.scattered)} lie idle, "
        f"yet {npu_oom.shown(oom.wanted)} in one piece are not to be had"
    )
    confidence = Confidence.SURE if oom.very_scattered else Confidence.LIKELY
    yield npu_oom.hit(found, said, confidence, wanted="a free block of that size within the reserved memory")


def _growing(packages: Packages | None, environment: Environment | None, matches: Matches) -> Iterator[Hit]:
    version = packages.versions.get("vllm-ascend") if packages is not None else None
    options = environment.values.get("PYTORCH_NPU_ALLOC_CONF", "") if environment is not None else ""
    if version is None or not satisfies(version, WITHOUT_SEGMENTS, Scheme.PACKAGE) or "expandable_segments:True" in options:
        return
    seen = tuple(said.match for said in growth.told(matches) if said.where is growth.Where.DEVICE)
    if seen and (matches["multimodal"] or "max_split_size_mb" in options):
        yield Hit(
            found=f"NPU memory grows with changing inputs on vllm-ascend {version}, whose segments do not grow",
            wanted="expandable_segments:True",
            evidence=(evidence_of(seen),),
            confidence=Confidence.LIKELY,
            severity=Severity.WARN,
            basis=Basis.BOTH,
            position=seen[0].ordinal + 1,
        )
