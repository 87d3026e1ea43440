"""No toolkit on disk although packages that need one are installed."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip


def judge(cann: Cann, packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if cann.active_by == "text":
        raise Skip("a text does not show the disk")
    if cann.installs:
        return
    needing = [name for name in ("vllm-ascend", "torch-npu") if name in packages.versions]
    if not needing:
        raise Skip("neither vllm-ascend nor torch-npu is installed in the target")
    yield Hit(
        found=f"no toolkit below {cann.source}, but {needing[0]} {packages.versions[needing[0]]} is installed",
        wanted="an installed CANN toolkit",
        evidence=(Evidence(cann.source, "no toolkit found"), Evidence(packages.source, f"{needing[0]} {packages.versions[needing[0]]}")),
    )
