"""vLLM against the version that the vllm-ascend release was made for."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip


def judge(packages: Packages) -> Iterator[Hit]:
    vllm, plugin = packages.versions.get("vllm"), packages.versions.get("vllm-ascend")
    if vllm is None or plugin is None:
        raise Skip("the versions of vllm and vllm-ascend are not both known")
    row = compat.release(plugin)
    nearest = row or compat.nearest(plugin)
    if nearest is None:
        raise Skip(f"vllm-ascend {plugin} is no known release")
    development = ".dev" in compat.public(plugin)
    fits = compat.vllm_matches(nearest, vllm)
    if fits is None:
        raise Skip(f"vllm {vllm} is a development build: its commit decides, not its number")
    if development:
        # main follows one commit of vLLM; no tagged vLLM belongs to it.
        confidence, severity, wanted = Confidence.LIKELY, Severity.FAIL, "the vLLM commit that versioning_policy.md of this source tree names"
    elif row is not None:
        confidence, severity, wanted = Confidence.SURE, Severity.FAIL, f"vllm {row.vllm}"
    else:
        # Users shorten release names, and the table may lack one: the same X.Y.Z is taken for a pair.
        fits = fits or compat.public(vllm).startswith(_base(plugin))
        confidence, severity, wanted = Confidence.LIKELY, Severity.WARN, f"vllm {nearest.vllm} (of vllm-ascend {nearest.version}, the nearest release)"
    if fits and not development:
        return
    if packages.lines:
        severity = Severity.WARN  # a text: the server may have come past the import, and an error in it have another cause
    yield Hit(
        found=f"vllm {vllm} with vllm-ascend {plugin}",
        wanted=wanted,
        evidence=tuple(
            Evidence(packages.source or "packages", f"{name} {packages.versions[name]}", packages.lines.get(name, 0)) for name in ("vllm", "vllm-ascend")
        ),
        confidence=confidence,
        severity=severity,
        values={"row_vllm": nearest.vllm, "row_version": nearest.version},
    )


def _base(version: str) -> str:
    return ".".join(compat.public(version).split("rc")[0].split(".post")[0].split(".")[:3])
