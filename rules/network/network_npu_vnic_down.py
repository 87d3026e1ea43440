"""Looks for A3 dies whose virtual port is down or has no address."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import Hccn
from doctor.facts.npu import Chip
from doctor.finding import Evidence, Hit, Skip


def judge(hccn: Hccn, chip: Chip) -> Iterator[Hit]:
    if chip.family != "a3":
        return
    if not any(card.vnic for card in hccn.cards):
        raise Skip("hccn_tool told nothing about the virtual ports")
    for card in hccn.cards:
        if card.vnic == "DOWN" or (card.vnic == "UP" and card.vnic_address is None):
            fault = "it is down" if card.vnic == "DOWN" else "it has no address"
            yield Hit(
                subject=f"NPU {card.npu_id}",
                found=f"the virtual port: {fault}",
                wanted="vnic link status: UP, with an address",
                evidence=(Evidence(f"{hccn.source} -i {card.npu_id} -vnic -g", f"vnic link status: {card.vnic}"),),
                values={"card": str(card.npu_id)},
            )
