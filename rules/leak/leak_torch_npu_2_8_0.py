"""torch_npu 2.8.0 itself leaks: from its exact version, and from what the report says of memory."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth


def judge(packages: Packages, presence: NpuPresence | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "torch-npu", "== 2.8.0")
    if version is None or (presence is not None and presence.present is False):
        return
    said, wanted = f"torch_npu {version}", "2.8.0.post1 or later"
    if not matches.looked:
        yield growth.static(packages, "torch-npu", said, wanted, Severity.FAIL)
        return
    seen = growth.lines(growth.of_host(growth.told(matches))) or growth.swollen_workers(matches) or matches["killed"]
    if seen:
        yield growth.hit(seen, f"{said}, and host memory grows or ran out", Confidence.SURE, Severity.FAIL, wanted, Basis.BOTH)
    else:
        yield growth.static(packages, "torch-npu", said, wanted)
