"""Options that vLLM has removed: refused in a log, or on a command line of a release that is known to lack them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of
from doctor.versions import Scheme, satisfies

CHECKED = ">= 0.32.0"
"""The release whose parser was looked at: from it on, none of these options is there."""

REPLACEMENTS: Mapping[str, str] = {
    "task": "--runner pooling, --convert",
    "swap-space": "-",
    "num-scheduler-steps": "-",
    "multi-step-stream-outputs": "--stream-interval",
    "use-v2-block-manager": "-",
    "preemption-mode": "-",
    "worker-use-ray": "--distributed-executor-backend ray",
    "engine-use-ray": "-",
    "disable-async-output-proc": "-",
    "tokenizer-pool-size": "-",
    "guided-decoding-backend": "--structured-outputs-config '{\"backend\": …}'",
    "speculative-model": "--speculative-config '{\"model\": …}'",
    "num-speculative-tokens": "--speculative-config '{\"num_speculative_tokens\": …}'",
    "rope-scaling": "--hf-overrides '{\"rope_scaling\": …}'",
    "rope-theta": "--hf-overrides '{\"rope_theta\": …}'",
    "max-seq-len-to-capture": "--max-cudagraph-capture-size",
    "cuda-graph-sizes": "--compilation-config '{\"cudagraph_capture_sizes\": […]}'",
    "enable-reasoning": "--reasoning-parser",
    "disable-log-requests": "-",
    "override-neuron-config": "-",
}
"""Removed option -> what takes its place, "-" for nothing."""


def judge(matches: Matches, commands: ServeCommands | None, packages: Packages | None) -> Iterator[Hit]:
    refused = matches["refused"]
    if refused:
        bad = refused[0].groups.get("bad", "")
        yield Hit(
            found=refused[0].text[:200],
            evidence=(evidence_of(refused),),
            values={"bad": bad, "replacement": _replacement(bad)},
            basis=Basis.LOG,
            position=refused[0].ordinal + 1,
        )
        return
    version = packages.versions.get("vllm") if packages else None
    if version is None or not satisfies(version, CHECKED, Scheme.PACKAGE):
        return
    for command in commands.commands if commands else ():
        for name in command.flags:
            if name in REPLACEMENTS and command.argv:
                yield Hit(
                    subject=f"--{name}",
                    found=f"--{name} with vLLM {version}",
                    wanted=REPLACEMENTS[name],
                    evidence=(Evidence(command.source, f"--{name}", command.line),),
                    values={"bad": f"--{name}", "replacement": REPLACEMENTS[name]},
                )


def _replacement(bad: str) -> str:
    return REPLACEMENTS.get(bad.lstrip("-").replace("_", "-"), "-")
