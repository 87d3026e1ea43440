"""Decides container-cap-dac-override-dropped on a machine: root in a container that may not pass over the modes of the nodes."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.processes import CAP_DAC_OVERRIDE, NodeAccess, OwnStatus
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(own: OwnStatus | None, access: NodeAccess | None, container: Container | None, matches: Matches) -> Iterator[Hit]:
    if own is None or access is None or container is None or not container.inside:
        if not matches.looked:
            raise Skip("not in a container, or the rights of the process are not known")
        return
    denied = [node for node in access.nodes if not node.opens_for(own)]
    if own.uid == 0 and not own.may(CAP_DAC_OVERRIDE) and denied:
        node = denied[0]
        yield Hit(
            found=f"root without CAP_DAC_OVERRIDE; {node.path} has mode {node.mode:o} and group {node.gid}",
            wanted=f"the capability, or group {node.gid}",
            evidence=(
                Evidence(own.source, f"CapEff: {own.capabilities or 0:016x}, groups {own.groups}"),
                Evidence(node.path, f"mode {node.mode:o}, owner {node.uid}:{node.gid}"),
            ),
        )
