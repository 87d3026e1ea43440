"""VLLM_VERSION against the vLLM that is installed."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import Environment, Packages
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, parse


def judge(packages: Packages, environment: Environment) -> Iterator[Hit]:
    told = environment.values.get("VLLM_VERSION")
    if told is None:
        if not environment.complete:
            raise Skip("the environment of the target is only partly known")
        return
    wanted, evidence = parse(told, Scheme.PACKAGE), Evidence(environment.source, f"VLLM_VERSION={told}", environment.lines.get("VLLM_VERSION", 0))
    if wanted is None:
        yield Hit(found=f"VLLM_VERSION={told}, which is no version", wanted="X.Y.Z of the vLLM source", evidence=(evidence,))
        return
    vllm = packages.versions.get("vllm")
    own = parse(vllm, Scheme.PACKAGE) if vllm else None
    if vllm is None or own is None or ".dev" in compat.public(vllm):
        raise Skip("the version of vllm itself is not known, so the variable is needed")
    if own.base != wanted.base:
        yield Hit(
            found=f"VLLM_VERSION={told} with vllm {vllm}",
            wanted="VLLM_VERSION not set",
            evidence=(evidence, Evidence(packages.source, f"vllm {vllm}", packages.lines.get("vllm", 0))),
        )
