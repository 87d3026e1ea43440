"""torch_npu against CANN by the table of torch_npu's builds, where no vllm-ascend release decides."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, compare

_TOLERANT = ("2.1.", "2.2.", "2.3.", "2.4.", "2.5.", "2.6.", "2.7.")


def judge(cann: Cann, packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    torch_npu = packages.versions.get("torch-npu")
    if torch_npu is None or cann.version is None:
        raise Skip("the versions of torch-npu and CANN are not both known")
    if compat.release(packages.versions.get("vllm-ascend", "")) is not None:
        return  # the release's own row decides: cann-older-than-row, cann-newer-than-row, torch-npu-build-not-of-row
    wanted = compat.cann_for_torch_npu(torch_npu)
    if not wanted:
        raise Skip(f"torch-npu {torch_npu} is not in the table")
    if any(compat.line(one) == compat.line(cann.version) for one in wanted):
        return
    first, last = compat.TOLERANT_TORCH_NPU
    inside = compare(cann.version, first, Scheme.CANN) in (0, 1) and compare(cann.version, last, Scheme.CANN) in (-1, 0)
    if torch_npu.startswith(_TOLERANT) and inside:
        return
    yield Hit(
        found=f"torch_npu {torch_npu} with CANN {cann.version}",
        wanted="CANN " + " or ".join(wanted),
        evidence=(
            Evidence(packages.source or "packages", f"torch-npu {torch_npu}", packages.lines.get("torch-npu", 0)),
            Evidence(cann.source or "CANN", f"CANN {cann.version}", cann.line),
        ),
        severity=Severity.WARN,
        confidence=Confidence.LIKELY,
        values={"wanted_cann": wanted[0]},
    )
