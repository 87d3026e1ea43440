"""Looks for NPU ports whose network health check does not succeed."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import Hccn
from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit, Severity, Skip

from ._nodes import port_use, severity

_NOT_SET_UP = ("init", "detect ip set")
"""States that only say that no address to detect is configured."""


def judge(hccn: Hccn, commands: ServeCommands | None, environment: Environment | None) -> Iterator[Hit]:
    if not any(card.health for card in hccn.cards):
        raise Skip("hccn_tool told no network health")
    use = port_use(commands, environment)
    for card in hccn.cards:
        health = (card.health or "").lower()
        if health and health != "success":
            idle = health in _NOT_SET_UP
            yield Hit(
                subject=f"NPU {card.npu_id}",
                found=f"net health status: {card.health}" + (" (no address to detect is configured)" if idle else ""),
                wanted="Success",
                evidence=(Evidence(f"{hccn.source} -i {card.npu_id} -net_health -g", f"net health status: {card.health}"),),
                severity=Severity.NOTE if idle else severity(use, Severity.WARN),
                values={"card": str(card.npu_id)},
            )
