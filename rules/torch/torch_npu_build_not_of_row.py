"""The torch_npu build against the builds that the vllm-ascend release accepts."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(packages: Packages, matches: Matches) -> Iterator[Hit]:
    release, torch_npu = packages.versions.get("vllm-ascend"), packages.versions.get("torch-npu")
    if release is None or torch_npu is None:
        raise Skip("the versions of vllm-ascend and torch-npu are not both known")
    row = compat.release(release)
    if row is None:
        raise Skip(f"vllm-ascend {release} is no known release")
    fits = compat.torch_npu_matches(row, torch_npu)
    if fits is None:
        raise Skip(f"torch-npu {torch_npu} is no version")
    if fits:
        return
    lines = matches["no_operator"]
    yield Hit(
        found=f"torch_npu {torch_npu} with vllm-ascend {release}",
        wanted="torch_npu " + " or ".join((row.torch_npu, *row.accepted.get("torch_npu", ()))),
        evidence=tuple(
            Evidence(packages.source or "packages", f"{name} {packages.versions[name]}", packages.lines.get(name, 0))
            for name in ("torch-npu", "vllm-ascend")
        ),
        severity=Severity.FAIL if lines else Severity.WARN,
        confidence=Confidence.SURE if packages.complete else Confidence.LIKELY,
        basis=Basis.BOTH if lines else Basis.FACTS,
        position=lines[0].ordinal + 1 if lines else 0,
    )
