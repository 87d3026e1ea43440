"""vLLM on a machine with NPUs, without the plugin."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip

_OTHER_PLUGINS = ("vllm-mindspore", "vllm-fl", "sglang")
"""Packages that bring an NPU platform of their own."""


def judge(packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    vllm = packages.versions.get("vllm")
    if vllm is None or not packages.complete:
        raise Skip("vllm is not installed in the target, or not all of its packages are known")
    if "vllm-ascend" in packages.versions or "vllm_ascend" in (packages.modules or ()) or set(_OTHER_PLUGINS) & set(packages.versions):
        return
    if presence is None or presence.present is None:
        raise Skip("it is not known whether this machine has an NPU")
    yield Hit(
        found=f"vllm {vllm} without vllm-ascend on a machine with NPUs",
        wanted="vllm-ascend of the same version",
        evidence=(Evidence(packages.source, f"vllm {vllm}, no vllm-ascend"), Evidence("NPU", presence.how)),
    )
