"""A CUDA build of torch where torch_npu is to be used."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages, TorchBuild
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.regex import regex

_NVIDIA = regex(r"nvidia-\w+-cu\d+")


def judge(torch: TorchBuild, packages: Packages, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    meant = bool({"torch-npu", "vllm-ascend"} & set(packages.versions)) or (presence is not None and presence.present is True)
    if not meant:
        raise Skip("nothing shows that this torch is to run on an NPU")
    nvidia = sorted(name for name in packages.versions if _NVIDIA.fullmatch(name))
    if torch.cuda:
        yield Hit(
            found=f"torch {torch.version} is a CUDA build",
            wanted="the CPU build of torch",
            evidence=(Evidence(torch.source or packages.source, f"torch {torch.version}", packages.lines.get("torch", 0)),),
        )
    elif nvidia and torch.cuda is None:
        yield Hit(
            found="CUDA libraries are installed: " + ", ".join(nvidia[:4]),
            wanted="no nvidia packages",
            evidence=(Evidence(packages.source, ", ".join(nvidia[:4])),),
            severity=Severity.WARN,
            confidence=Confidence.LIKELY,
        )
