"""VLLM_VERSION against the vLLM that is installed."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import Environment, Packages
from doctor.finding import Evidence, Hit, Skip
from doctor.regex import regex
from doctor.versions import Scheme, parse

_PEP_440 = regex(r"v?\d{1,4}(?:\.\d{1,6}){0,4}(?:(?:a|b|rc)\d{1,4})?(?:\.post\d{1,4})?(?:\.dev\d{1,6})?(?:\+[A-Za-z0-9.]{1,60})?")
"""vllm-ascend reads the variable with packaging.version, which takes nothing else."""


def judge(packages: Packages, environment: Environment) -> Iterator[Hit]:
    told = environment.values.get("VLLM_VERSION")
    if told is None:
        if not environment.complete:
            raise Skip("the environment of the target is only partly known")
        return
    wanted, evidence = parse(told, Scheme.PACKAGE) if _PEP_440.fullmatch(told) else None, Evidence(environment.source, f"VLLM_VERSION={told}", environment.lines.get("VLLM_VERSION", 0))
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
