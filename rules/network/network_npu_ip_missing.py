"""Looks for NPU ports without an address, and for addresses that two ports share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from doctor.facts.network import Hccn
from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit, Severity, Skip

from ._nodes import port_use, severity


def judge(hccn: Hccn, commands: ServeCommands | None, environment: Environment | None) -> Iterator[Hit]:
    if not any(card.address for card in hccn.cards):
        raise Skip("hccn_tool told no address")
    level = severity(port_use(commands, environment), Severity.FAIL)
    shared = {address for address, count in Counter(card.address for card in hccn.cards if card.address).items() if count > 1}
    for card in hccn.cards:
        fault = (
            "it has no address"
            if card.address is None
            else f"{card.address} is also that of another port"
            if card.address in shared
            else ""
        )
        if fault:
            yield Hit(
                subject=f"NPU {card.npu_id}",
                found=fault,
                wanted="an address of its own on every port",
                evidence=(Evidence(f"{hccn.source} -i {card.npu_id} -ip -g", f"ipaddr:{card.address or ''}"),),
                severity=level,
                values={"card": str(card.npu_id)},
            )
