"""Folders of the working folder, or of PYTHONPATH, that have the name of an installed package."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.beside import Shadows
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(shadows: Shadows | None, packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    if shadows is None or packages is None:
        if not matches.looked:
            raise Skip("the working folder, or the packages of the target, are not known")
        return
    found = [(name, path) for name, path in shadows.found if name.replace("_", "-") in packages.versions]
    if found:
        told = ", ".join(path for _, path in found[:3])
        yield Hit(
            found=f"{told} has the name of an installed package",
            wanted="another working folder",
            evidence=tuple(Evidence(path, f"shadows {name}") for name, path in found[:3]),
            confidence=Confidence.LIKELY if shadows.in_path else Confidence.POSSIBLE,
            severity=None if shadows.in_path else Severity.WARN,  # `vllm serve` does not look into the working folder; `python -m` does
        )
