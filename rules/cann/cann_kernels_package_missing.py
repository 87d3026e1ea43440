"""Whether any operator binaries are installed in the toolkit in use."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann
from doctor.facts.npu import NpuPresence
from doctor.finding import Evidence, Hit, Skip


def judge(cann: Cann, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    install = cann.active
    if install is None:
        raise Skip("no CANN is in use")
    if install.kernels is None:
        raise Skip("the folder of operator binaries was not seen")
    if install.kernels:
        return
    if install.kernels_version is not None:
        raise Skip(f"the ops package {install.kernels_version} is recorded as installed, but its binaries were not found where older releases keep them")
    folder = f"{install.path}/opp/built-in/op_impl/ai_core/tbe/kernel"
    yield Hit(
        found=f"no operator binaries below {folder}",
        wanted="the kernels/ops package of this chip",
        evidence=(Evidence(folder, "no folder with .o or .json files"),),
    )
