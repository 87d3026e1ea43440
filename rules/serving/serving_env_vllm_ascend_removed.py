"""Variables that the installed vllm-ascend has dropped."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts.target import Environment, Packages
from doctor.finding import Evidence, Hit
from doctor.rulepackage import data_text
from doctor.versions import Scheme, satisfies

REPLACEMENTS: Mapping[str, str] = {
    "VLLM_ASCEND_ENABLE_DBO": "--enable-dbo",
    "VLLM_ASCEND_ENABLE_PREFETCH_MLP": "additional_config.weight_prefetch_config",
    "VLLM_ASCEND_ENABLE_CONTEXT_PARALLEL": "additional_config.enable_dsa_cp",
}
"""Variable -> what takes its place; the others have nothing."""

OWN = ("VLLM_ASCEND_", "VLLM_ENABLE_FUSED_EXPERTS_ALLGATHER_EP", "VLLM_ENABLE_MC2", "VLLM_LLMDD_", "USE_OPTIMIZED_MODEL")
"""Beginnings of names that only vllm-ascend reads."""


def judge(environment: Environment, packages: Packages) -> Iterator[Hit]:
    version = packages.versions.get("vllm-ascend")
    for name, value in environment.values.items():
        if version and name.startswith(OWN) and is_gone(name, version):
            text = f"{name}={value[:60]}"
            replacement = REPLACEMENTS.get(name, "-")
            yield Hit(
                subject=name,
                found=f"{text} with vllm-ascend {version}",
                wanted=replacement if replacement != "-" else "not set",
                evidence=(Evidence(environment.source, text, environment.lines.get(name, 0)),),
                values={"name": name, "replacement": replacement},
            )


@functools.cache
def table() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads(data_text("vllm-flags.json"))
    return loaded


def is_gone(name: str, version: str) -> bool:
    """Whether an earlier release read the variable and this one does not. The list of releases ends with a state newer than all of them."""
    ranges = table()["ascend_variables"].get(name)
    if not ranges:
        return False
    last = max(int(part.split("-")[-1]) for part in ranges.split(","))
    *releases, _ = table()["ascend_versions"]
    place = max((at for at, known in enumerate(releases) if satisfies(version, f">= {known}", Scheme.PACKAGE)), default=0)
    newer = place == len(releases) - 1 and satisfies(version, f"> {releases[-1]}", Scheme.PACKAGE) is True
    return last < place + newer
