"""Options that vLLM has removed: refused in a log, or on a command line of a release that lacks them."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of
from doctor.rulepackage import data_text
from doctor.versions import Scheme, satisfies

REPLACEMENTS: Mapping[str, str] = {
    "task": "--runner pooling, --convert",
    "multi-step-stream-outputs": "--stream-interval",
    "worker-use-ray": "--distributed-executor-backend ray",
    "guided-decoding-backend": "--structured-outputs-config '{\"backend\": …}'",
    "speculative-model": "--speculative-config '{\"model\": …}'",
    "num-speculative-tokens": "--speculative-config '{\"num_speculative_tokens\": …}'",
    "rope-scaling": "--hf-overrides '{\"rope_scaling\": …}'",
    "rope-theta": "--hf-overrides '{\"rope_theta\": …}'",
    "max-seq-len-to-capture": "--max-cudagraph-capture-size",
    "cuda-graph-sizes": "--compilation-config '{\"cudagraph_capture_sizes\": […]}'",
    "enable-reasoning": "--reasoning-parser",
    "override-pooler-config": "--pooler-config",
}
"""Removed option -> what takes its place; the others have nothing."""

OLDER = frozenset({"worker-use-ray", "engine-use-ray", "quantization-param-path", "max-context-len-to-capture"})
"""Gone before the first release of the table."""

ANOTHER_CAUSE = "device"
SHOWN = 200


def judge(matches: Matches, commands: ServeCommands | None, packages: Packages | None) -> Iterator[Hit]:
    version = packages.versions.get("vllm") if packages else None
    for match in matches["refused"]:
        for bad in refused_names(match.groups):
            if is_gone(plain(bad), version):
                values = {"bad": bad, "replacement": REPLACEMENTS.get(plain(bad), "-")}
                yield Hit(found=match.text[:SHOWN], evidence=(evidence_of((match,)),), values=values, basis=Basis.LOG, position=match.ordinal + 1)
                return
    if matches["accepted"]:
        return  # the parser of that release took the command
    for command in commands.commands if commands and version else ():
        for name in command.flags:
            if command.argv and is_gone(name, version):
                yield Hit(
                    subject=f"--{name}",
                    found=f"--{name} with vLLM {version}",
                    wanted=REPLACEMENTS.get(name, f"without --{name}"),
                    evidence=(Evidence(command.source, f"--{name}", command.line),),
                    values={"bad": f"--{name}", "replacement": REPLACEMENTS.get(name, "-")},
                )


def refused_names(groups: Mapping[str, str]) -> list[str]:
    """The options in the parser's list of what it does not know, or the argument of a call."""
    return re.findall(r"--[\w-]{2,80}", groups.get("rest", "")) + ([groups["keyword"]] if "keyword" in groups else [])


def plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-")


def is_gone(name: str, version: str | None) -> bool:
    """Whether an earlier release had the flag and this one (the newest, if it is not known) does not."""
    if name == ANOTHER_CAUSE:
        return False
    last = last_place(name)
    return name in OLDER if last is None else last < place_of(version)


@functools.cache
def table() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads(data_text("vllm-flags.json"))
    return loaded


def last_place(name: str) -> int | None:
    """Place, in the table's list of releases, of the last one that had the flag."""
    ends = [int(part.split("-")[-1]) for shape in table()["flags"].get(name, ()) for part in shape[0].split(",")]
    return max(ends, default=None)


def place_of(version: str | None) -> int:
    """Place of the newest release that is not newer than the version."""
    releases = table()["versions"]
    if version is None:
        return len(releases) - 1
    return max((at for at, known in enumerate(releases) if satisfies(version, f">= {known}", Scheme.PACKAGE)), default=0)
