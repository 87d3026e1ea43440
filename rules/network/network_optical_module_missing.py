"""Whether a port whose link is down lacks an optical module that other ports of the server have."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import Hccn, HccnPorts
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(ports: HccnPorts | None, hccn: Hccn | None, matches: Matches) -> Iterator[Hit]:
    if ports is None or hccn is None:
        if not matches.looked:
            raise Skip("hccn_tool told nothing about the ports, and no log was given")
        return
    down = {card.npu_id for card in hccn.cards if card.link == "DOWN"}
    if all(port.present is False for port in ports.ports) and len(down) == len(hccn.cards):
        return  # copper, or a board without modules
    for port in ports.ports:
        if port.present is False and port.npu_id in down:
            yield Hit(
                subject=f"NPU {port.npu_id}",
                found="no optical module, and the link is down",
                wanted="a module in the port",
                evidence=(Evidence(f"{ports.source} -i {port.npu_id} -optical -g", "present: not present"),),
                confidence=Confidence.LIKELY,
                values={"card": str(port.npu_id)},
            )
