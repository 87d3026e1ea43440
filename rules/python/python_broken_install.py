"""Packages of the serving stack that are there in part: two versions, pip's leftovers, metadata without code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity

_STACK = ("vllm", "vllm-ascend", "torch", "torch-npu", "torchvision", "torchaudio", "transformers", "triton-ascend")
_WITH_FOLDER = {"vllm-ascend": "vllm_ascend", "torch-npu": "torch_npu", "torch": "torch", "transformers": "transformers"}


def judge(packages: Packages) -> Iterator[Hit]:
    for name in _STACK:
        versions = packages.duplicates.get(name, ())
        if len(set(versions)) > 1:
            yield _hit(packages, name, f"{name} is there in the versions {', '.join(versions)}", "one version", Severity.FAIL)
    for entry in packages.broken:
        broken = _meant(entry)
        if broken is not None:
            left = entry.startswith("~")
            severity = Severity.NOTE if left else Severity.FAIL
            yield _hit(packages, entry, f"{entry}: {'left over by pip' if left else 'metadata that cannot be used'}", f"no trace of an old {broken}", severity)
    for name, folder in _WITH_FOLDER.items():
        if packages.modules and name in packages.versions and folder not in packages.modules:
            yield _hit(packages, name, f"{name} {packages.versions[name]} has metadata and no folder {folder}", "the package's code", Severity.FAIL)


def _meant(entry: str) -> str | None:
    """The package of the stack that a broken entry of site-packages belongs to; pip's leftovers have "~" for the first letter."""
    name = re.split(r"-\d|\.(?:dist|egg)-", entry, maxsplit=1)[0].lower().replace("_", "-")
    for known in _STACK:
        if name == known or (name.startswith("~") and name.lstrip("~-") in (known[1:], known[2:])):
            return known
    return None


def _hit(packages: Packages, subject: str, found: str, wanted: str, severity: Severity) -> Hit:
    return Hit(
        subject=subject,
        found=found,
        wanted=wanted,
        evidence=(Evidence(packages.source, found),),
        confidence=Confidence.LIKELY,
        severity=severity,
    )
