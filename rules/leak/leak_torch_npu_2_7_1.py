"""torch_npu 2.7.1 itself leaks: from its exact version, and from what the report says of memory."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth


def judge(packages: Packages, presence: NpuPresence | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "torch-npu", "== 2.7.1")
    if version is None or (presence is not None and presence.present is False):
        return
    said, wanted = f"torch_npu {version}", "2.7.1.post1 or later"
    named = growth.release(packages, "vllm-ascend", ">=0.11.0rc1, <0.12.dev0")  # the release whose notes name the defect
    confidence = Confidence.SURE if named else Confidence.LIKELY
    if not matches.looked:
        yield growth.static(packages, "torch-npu", said, wanted, Severity.FAIL, confidence)
        return
    seen = growth.lines(growth.told(matches)) or growth.swollen_workers(matches) or matches["killed"]
    if seen:
        yield growth.hit(seen, f"{said}, and memory grows or ran out", confidence, Severity.FAIL, wanted, Basis.BOTH)
    else:
        yield growth.static(packages, "torch-npu", said, wanted, confidence=confidence)
