"""vllm-ascend's own operators beside a torch of another release than the one that they were built against."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import AscendBuild, Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(packages: Packages | None, build: AscendBuild | None, matches: Matches) -> Iterator[Hit]:
    if packages is None or build is None:
        if not matches.looked:
            raise Skip("the packages of the target are not known, and no log was given")
        return
    release, torch = packages.versions.get("vllm-ascend"), packages.versions.get("torch")
    row = compat.release(release) if release else None
    if row is None or torch is None or not build.extension or packages.editable and "vllm-ascend" in packages.editable:
        return
    if compat.torch_matches(row, torch) is False:
        found = f"torch {torch}, and operators of vllm-ascend {release}, which were built with torch {row.torch}"
        yield Hit(
            found=found, wanted=f"torch {row.torch}", evidence=(Evidence(packages.source, f"torch {torch}"),), confidence=Confidence.LIKELY, severity=Severity.WARN
        )
