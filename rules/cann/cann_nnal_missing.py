"""Whether a libatb.so is installed at all, for a torch_npu that is linked against it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann, NnalSearch
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, compare

_FIRST = "2.5.1.dev0"
"""The first torch_npu that links libatb.so (vllm-ascend's FAQ 6)."""


def judge(search: NnalSearch, packages: Packages, cann: Cann | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if search.found is not None:
        return
    torch_npu = packages.versions.get("torch-npu")
    if torch_npu is None or compare(torch_npu, _FIRST, Scheme.PACKAGE) is None:
        raise Skip("torch-npu is not installed in the target")
    if cann is not None and not cann.installs:
        raise Skip("CANN itself is not installed")
    if compare(torch_npu, _FIRST, Scheme.PACKAGE) != -1:
        yield Hit(
            found=f"no libatb.so below {', '.join(search.looked_at[:2])}, but torch_npu {torch_npu} needs it",
            wanted="an installed NNAL package",
            evidence=(Evidence(", ".join(search.looked_at[:2]), "not found"), Evidence(packages.source, f"torch-npu {torch_npu}")),
        )
