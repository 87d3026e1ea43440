"""Looks for /etc/hccn.conf where the NPU ports are used: several nodes, or a KV transfer."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import HccnConf
from doctor.facts.npu import Chip
from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit

from ._nodes import port_use

_NETWORKED = ("a1", "a2", "a3")
"""Chip families with RoCE ports; 950 keeps its addresses elsewhere."""


def judge(conf: HccnConf, chip: Chip, commands: ServeCommands | None, environment: Environment | None) -> Iterator[Hit]:
    use = port_use(commands, environment)
    if not conf.present and chip.family in _NETWORKED and use:
        yield Hit(
            found=f"there is no usable {conf.source}, and {use} needs it",
            wanted="a file with address_N and netmask_N of every NPU",
            evidence=(Evidence(conf.source, "missing or empty"),),
        )
