"""Whether torch_npu is installed beside vllm-ascend."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip


def judge(packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if "torch-npu" in packages.versions or "torch_npu" in (packages.modules or ()):
        return
    release = packages.versions.get("vllm-ascend")
    if release is None or not packages.complete:
        raise Skip("vllm-ascend is not installed in the target, or not all of its packages are known")
    yield Hit(
        found=f"vllm-ascend {release} without torch_npu",
        wanted="torch_npu of the release",
        evidence=(Evidence(packages.source, f"vllm-ascend {release}, no torch-npu"),),
    )
