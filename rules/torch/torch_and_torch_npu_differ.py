"""The X.Y.Z of torch against that of torch_npu."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.regex import regex

_NUMBERS = regex(r"(\d+(?:\.\d+){1,2})")


def judge(packages: Packages) -> Iterator[Hit]:
    torch, torch_npu = packages.versions.get("torch"), packages.versions.get("torch-npu")
    own, bound = (_NUMBERS.match(version or "") for version in (torch, torch_npu))
    if own is None or bound is None:
        raise Skip("the versions of torch and torch-npu are not both known")
    parts, wanted = own[1].split("."), bound[1].split(".")
    shared = min(len(parts), len(wanted))  # people write "torch 2.5" for 2.5.1
    if parts[:shared] == wanted[:shared]:
        return
    yield Hit(
        found=f"torch {torch} with torch_npu {torch_npu}",
        wanted=f"torch {bound[1]}",
        evidence=tuple(
            Evidence(packages.source or "packages", f"{name} {packages.versions[name]}", packages.lines.get(name, 0)) for name in ("torch", "torch-npu")
        ),
        confidence=Confidence.SURE if packages.complete or shared == 3 else Confidence.LIKELY,
        values={"base": bound[1], "torchvision": _torchvision(wanted)},
    )


def _torchvision(torch: list[str]) -> str:
    """torchvision 0.(Y+15).Z goes with torch 2.Y.Z."""
    return f"0.{int(torch[1]) + 15}.{torch[2] if len(torch) > 2 else '0'}" if torch[0] == "2" else ""
