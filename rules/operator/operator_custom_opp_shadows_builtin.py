"""A custom package brings operators that CANN or another package brings too; the one that comes first wins, without a word."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.custom_ops import OpPackages
from doctor.finding import Confidence, Evidence, Hit

SHOWN = 5
OWN = "vllm_ascend"
"""Part of the path of vllm-ascend's own package, whose overrides are meant and made for its release."""


def judge(found: OpPackages) -> Iterator[Hit]:
    seen: dict[str, str] = {}
    for package in found.packages:
        twice = sorted(name for name in package.operators if name in seen and seen[name] != package.path)
        if twice:
            first = seen[twice[0]]
            yield Hit(
                subject=package.name, found=f"{len(twice)} operators stand in {first} as well, which wins: {_told(twice)}", wanted="a name that is not taken",
                evidence=(Evidence(package.path, f"also in {first}: {_told(twice)}"),), confidence=Confidence.SURE, values={"path": package.path, "op": twice[0]},
            )  # fmt: skip
        taken = sorted(package.operators & (found.builtin or frozenset()))
        if taken and OWN not in package.path.replace("-", "_"):
            yield Hit(
                subject=package.name, found=f"{len(taken)} operators of this package are built in too, and it wins: {_told(taken)}", wanted="a name that is not taken",
                evidence=(Evidence(package.path, f"also built in: {_told(taken)}"),), confidence=Confidence.LIKELY, values={"path": package.path, "op": taken[0]},
            )  # fmt: skip
        seen = {**dict.fromkeys(package.operators, package.path), **seen}


def _told(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
