"""Whether the optical module of a port tells that signals are lost."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import HccnPorts
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(ports: HccnPorts | None, matches: Matches) -> Iterator[Hit]:
    if ports is None:
        if not matches.looked:
            raise Skip("hccn_tool told nothing about the ports, and no log was given")
        return
    for port in ports.ports:
        if port.flags:
            yield Hit(
                subject=f"NPU {port.npu_id}",
                found=", ".join(port.flags),
                wanted="all flags 0x0",
                evidence=tuple(Evidence(f"{ports.source} -i {port.npu_id} -optical -g", flag) for flag in port.flags),
                confidence=Confidence.LIKELY,
                values={"card": str(port.npu_id)},
            )
