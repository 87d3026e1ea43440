"""Variables that the installed vllm-ascend has dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.facts.target import Environment, Packages
from doctor.finding import Evidence, Hit
from doctor.versions import Scheme, satisfies

GONE: Mapping[str, tuple[str, str]] = {
    "VLLM_ASCEND_EXTERNAL_DP_LB_ENABLED": (">= 0.11.0", "-"),
    "VLLM_ASCEND_ENABLE_TOPK_TOPP_OPTIMIZATION": (">= 0.12.0rc1", "-"),
    "VLLM_ASCEND_MLA_PA": (">= 0.13.0rc1", "-"),
    "VLLM_ASCEND_ENABLE_DBO": (">= 0.13.0rc1", "--enable-dbo"),
    "VLLM_ASCEND_TRACE_RECOMPILES": (">= 0.13.0rc1", "-"),
    "VLLM_ASCEND_ENABLE_DENSE_OPTIMIZE": (">= 0.13.0rc1", "-"),
    "VLLM_ASCEND_ENABLE_PREFETCH_MLP": (">= 0.18.0", "additional_config.weight_prefetch_config"),
    "VLLM_ASCEND_MODEL_EXECUTE_TIME_OBSERVE": (">= 0.18.0", "-"),
    "VLLM_ASCEND_APPLY_DSV4_PATCH": (">= 0.21.0rc1", "-"),
    "VLLM_ASCEND_ENABLE_CONTEXT_PARALLEL": (">= 0.21.0rc1", "additional_config.enable_dsa_cp"),
    "VLLM_ASCEND_ENABLE_FLASHCOMM1": (">= 0.26.0rc1", "-"),
    "VLLM_ASCEND_ENABLE_MATMUL_ALLREDUCE": (">= 0.26.0rc1", "-"),
    "VLLM_ASCEND_FLASHCOMM2_PARALLEL_SIZE": (">= 0.26.0rc1", "-"),
}
"""Variable -> (releases without it, what takes its place; "-" for nothing). From vllm_ascend/envs.py of the tags, as of 2026-08-22."""


def judge(environment: Environment, packages: Packages) -> Iterator[Hit]:
    version = packages.versions.get("vllm-ascend")
    for name, (without, replacement) in GONE.items():
        if version and name in environment.values and satisfies(version, without, Scheme.PACKAGE):
            text = f"{name}={environment.values[name][:60]}"
            yield Hit(
                subject=name,
                found=f"{text} with vllm-ascend {version}",
                wanted=replacement if replacement != "-" else "not set",
                evidence=(Evidence(environment.source, text, environment.lines.get(name, 0)),),
                values={"name": name, "replacement": replacement},
            )
