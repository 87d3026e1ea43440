"""Looks for NPU ports whose link is down."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import Hccn
from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit, Severity, Skip

from ._nodes import port_use, severity


def judge(hccn: Hccn, commands: ServeCommands | None, environment: Environment | None) -> Iterator[Hit]:
    if not any(card.link for card in hccn.cards):
        raise Skip("hccn_tool told no link")
    use = port_use(commands, environment)
    for card in hccn.cards:
        if card.link == "DOWN":
            yield Hit(
                subject=f"NPU {card.npu_id}",
                found="the link of its port is down" + (f", and {use} uses it" if use else "; nothing that is known uses it"),
                wanted="link status: UP",
                evidence=(Evidence(f"{hccn.source} -i {card.npu_id} -link -g", "link status: DOWN"),),
                severity=severity(use, Severity.FAIL),
                values={"card": str(card.npu_id)},
            )
