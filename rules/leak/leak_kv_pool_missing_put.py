"""Memory that stays pinned on some ranks, on a release whose KV pool lost a PUT."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

WANTED = "vllm-ascend 0.13.0rc2 or later"


def judge(packages: Packages, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm-ascend", "< 0.13.0rc2")
    given = growth.option(commands, "kv-transfer-config")
    in_command = any(name in given for name in ("AscendStore", "MooncakeStore", "MooncakeConnectorStore", "KVPool"))
    if version is None or not (in_command or (matches.looked and matches["pool"])):
        return
    said = f"a KV pool on vllm-ascend {version}"
    kept = tuple(found.match for found in growth.observed(matches) if found.where in (growth.Where.KV, growth.Where.DEVICE))
    if kept:
        yield growth.hit(kept, f"{said}, and memory is not released", Confidence.LIKELY, Severity.WARN, WANTED, Basis.BOTH)
    elif in_command:
        yield growth.static(packages, "vllm-ascend", said, WANTED)
