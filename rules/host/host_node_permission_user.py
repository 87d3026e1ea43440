"""Decides host-node-permission-user: access to the device nodes is refused, and this is not a container."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.processes import NodeAccess, OwnStatus
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of


def judge(own: OwnStatus | None, access: NodeAccess | None, container: Container | None, matches: Matches) -> Iterator[Hit]:
    if not matches.looked and (own is None or access is None or container is None):
        raise Skip("the rights of the process are not known, and no log was given")
    if container is not None and container.inside:
        return
    denied = [node for node in access.nodes if not node.opens_for(own)] if access is not None and own is not None and container is not None else []
    if denied and own is not None:
        node = denied[0]
        yield Hit(
            found=f"user {own.uid} may not open {node.path} (mode {node.mode:o}, group {node.gid})",
            wanted=f"group {node.gid} among the groups of the user",
            evidence=(Evidence(own.source, f"uid {own.uid}, groups {own.groups}"), Evidence(node.path, f"mode {node.mode:o}, group {node.gid}")),
        )
    lines = matches["denied"]
    if lines:
        yield Hit(
            found=lines[0].text[:300],
            evidence=(evidence_of(lines),),
            confidence=Confidence.POSSIBLE if container is None and "/dev/" not in lines[0].text else Confidence.LIKELY,
            basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )
