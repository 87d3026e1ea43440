"""Keys of --additional-config that the installed vllm-ascend has dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.facts import plugin_keys
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.versions import Scheme, compare, satisfies

from ._additional_config import dotted_keys_of, keys_of

_EPLB = (">= 0.14.0rc1", "eplb_config")
GONE: Mapping[str, tuple[str, str]] = {
    "expert_tensor_parallel_size": (">= 0.10.0rc1", "-"),
    "ascend_scheduler_config": (">= 0.12.0rc1", "-"),
    "torchair_graph_config": (">= 0.12.0rc1", "-"),
    "lmhead_tensor_parallel_size": (">= 0.12.0rc1", "finegrained_tp_config.lmhead_tensor_parallel_size"),
    "chunked_prefill_for_mla": (">= 0.13.0rc1", "-"),
    "dynamic_eplb": _EPLB,
    "num_iterations_eplb_update": _EPLB,
    "num_wait_worker_iterations": _EPLB,
    "expert_map_path": _EPLB,
    "expert_map_record_path": _EPLB,
    "init_redundancy_expert": _EPLB,
    "sp_threshold": (">= 0.18.0rc1", "--compilation-config pass_config.sp_min_token_num"),
    "enable_flashcomm1": (">= 0.26.0rc1", "-"),
}
"""Key -> (releases that do not read it, what takes its place; "-" for nothing). From the tags of vllm-ascend, as of 2026-08-22."""


def judge(matches: Matches, commands: ServeCommands | None, packages: Packages | None) -> Iterator[Hit]:
    for name, severity in (("refused", Severity.FAIL), ("warned", Severity.WARN)):
        found = matches[name]
        if found:
            key = found[0].groups.get("key", "")
            yield Hit(
                found=found[0].text[:200],
                evidence=(evidence_of(found),),
                severity=severity,
                values={"key": key, "replacement": GONE.get(key, ("", "-"))[1]},
                basis=Basis.LOG,
                position=found[0].ordinal + 1,
            )
            return
    version = packages.versions.get("vllm-ascend") if packages else None
    for command in commands.commands if commands and version else ():
        for key in (*dotted_keys_of(command), *keys_of(command)):
            without, replacement = GONE.get(key, ("", "-"))
            if without and satisfies(str(version), without, Scheme.PACKAGE):
                said = f"{key} in --additional-config with vllm-ascend {version}"
            elif not without and (last := _ended(key, str(version))):
                said = f"{key} in --additional-config with vllm-ascend {version}; the last release that read it is {last}"
            else:
                said = ""
            if said:
                yield Hit(
                    subject=key,
                    found=said,
                    wanted=replacement if replacement != "-" else "no such key",
                    evidence=(Evidence(command.source, f"--additional-config … {key}", command.line),),
                    values={"key": key, "replacement": replacement},
                )


def _ended(key: str, version: str) -> str:
    """The last release that read a key which this one does not read; "" for a key that it reads, or that came later or never."""
    keys, known = plugin_keys.shipped_keys(version), plugin_keys.span(key)
    if keys is None or known is None or key in keys.top or compare(known[1], version, Scheme.PACKAGE) != -1:
        return ""
    return known[1]
