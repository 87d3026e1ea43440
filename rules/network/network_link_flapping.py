"""Whether a port recorded that its link went down."""

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
        if port.downs:
            yield Hit(
                subject=f"NPU {port.npu_id}",
                found=f"the link went down {len(port.downs)} times, last: {port.downs[-1]}",
                wanted="no record but those of boots, resets and maintenance",
                evidence=(Evidence(f"{ports.source} -i {port.npu_id} -link_stat -g", port.downs[-1]),),
                confidence=Confidence.POSSIBLE,
                values={"card": str(port.npu_id)},
            )
