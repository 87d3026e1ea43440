"""Mooncake's segments of all ranks against the memory of the machine."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.machine import Memory
from doctor.facts.number import size
from doctor.facts.pools import MooncakeConfig
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.fit import Plan
from doctor.logscan.signature import Matches

GIB = 2**30


def judge(config: MooncakeConfig | None, commands: ServeCommands | None, memory: Memory | None, matches: Matches) -> Iterator[Hit]:
    if config is None or commands is None or memory is None or not memory.available:
        if not matches.looked:
            raise Skip("Mooncake's configuration, the commands, or the memory of the machine are not known")
        return
    told = config.values.get("global_segment_size")
    segment = told if isinstance(told, int) else size(told.replace(" ", "")) if isinstance(told, str) else None
    ranks = max((Plan.of(command).tp for command in commands.commands if "kv-transfer-config" in command.flags), default=0)
    if segment and ranks and segment * ranks > memory.available:
        found = f"{ranks} segments of {segment / GIB:.0f} GiB, {memory.available / GIB:.0f} GiB of memory available"
        yield Hit(found=found, wanted="segments that fit", evidence=(Evidence(config.path, f"global_segment_size {told}"),), confidence=Confidence.LIKELY)
