"""Decides container-multinode-bridge-network: a container without the host's network whose service spans nodes."""

from collections.abc import Iterator

from doctor.facts.container import RunCommands
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit
from doctor.logscan.signature import Matches

_SPANS = ("headless", "node-rank", "data-parallel-address", "data-parallel-start-rank", "master-addr")
"""Flags of services on several nodes."""


def judge(runs: RunCommands, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    flags = [command.flags for command in (commands.commands if commands else ())]
    spans = any(name in given for given in flags for name in _SPANS) or any(given.get("nnodes", "1") not in ("1", "") for given in flags)
    if not spans and not matches["ray"]:
        return
    for command in runs.commands:
        if command.network in (None, "bridge", "default"):
            told = f"network {command.network or 'bridge'}, but the service spans nodes"
            yield Hit(found=told, wanted="--net=host", evidence=(Evidence(command.source, told, command.line),), confidence=Confidence.LIKELY)
            return
