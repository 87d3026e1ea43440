"""Looks for NPU ports without forward error correction."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import Hccn
from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit, Severity, Skip

from ._nodes import port_use, severity


def judge(hccn: Hccn, commands: ServeCommands | None, environment: Environment | None) -> Iterator[Hit]:
    if not any(card.fec for card in hccn.cards):
        raise Skip("hccn_tool told no FEC mode")
    for card in hccn.cards:
        if card.fec is not None and card.fec.lower().startswith("no fec"):
            yield Hit(
                subject=f"NPU {card.npu_id}",
                found=f"fec mode: {card.fec}",
                wanted="rs FEC mode, as on the switch",
                evidence=(Evidence(f"{hccn.source} -i {card.npu_id} -fec -g", f"fec mode: {card.fec}"),),
                severity=severity(port_use(commands, environment), Severity.WARN),
                values={"card": str(card.npu_id)},
            )
