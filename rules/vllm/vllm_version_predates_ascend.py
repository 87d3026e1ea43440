"""A vLLM that is older than the first vllm-ascend release, on a machine with NPUs."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, compare


def judge(packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    vllm = packages.versions.get("vllm")
    first = compat.releases()[0].vllm
    if vllm is None or ".dev" in vllm or compare(compat.public(vllm), first, Scheme.PACKAGE) is None:
        raise Skip("the version of vllm is not known")
    if compare(compat.public(vllm), first, Scheme.PACKAGE) != -1:
        return
    if "vllm-ascend" not in packages.versions and (presence is None or presence.present is None):
        raise Skip("it is not known whether this machine has an NPU")
    yield Hit(
        found=f"vllm {vllm}",
        wanted=f"vllm {first} or newer",
        evidence=(Evidence(packages.source or "packages", f"vllm {vllm}", packages.lines.get("vllm", 0)),),
        values={"first_vllm": first},
    )
