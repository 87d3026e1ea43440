"""A version of vLLM that vllm-ascend cannot parse, or that was made up because the source has no tag."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Environment, Packages
from doctor.finding import Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, parse

_TAGLESS = ("0.1.dev", "0.0.0", "0.0.dev")
"""What setuptools-scm makes up for a source without tags, such as a shallow clone."""


def judge(packages: Packages, environment: Environment | None) -> Iterator[Hit]:
    vllm = packages.versions.get("vllm")
    if vllm is None:
        raise Skip("the version of vllm is not known")
    version = parse(vllm, Scheme.PACKAGE)
    tagless = vllm.startswith(_TAGLESS)
    if version is not None and not tagless:
        return
    if environment is None or (not environment.complete and "VLLM_VERSION" not in environment.values):
        raise Skip("it is not known whether VLLM_VERSION is set")
    if "VLLM_VERSION" not in environment.values and "vllm-ascend" in packages.versions:
        yield Hit(
            found=f"vllm {vllm}, and VLLM_VERSION is not set",
            wanted="VLLM_VERSION=X.Y.Z of the vLLM source",
            evidence=(Evidence(packages.source, f"vllm {vllm}", packages.lines.get("vllm", 0)),),
            severity=Severity.FAIL if version is None else Severity.WARN,
        )
