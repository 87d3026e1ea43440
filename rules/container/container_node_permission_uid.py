"""Decides container-node-permission-uid on a machine: a user in a container whom the modes of the nodes keep out, or who has no name."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.kernel import Accounts
from doctor.facts.processes import NodeAccess, OwnStatus
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(
    own: OwnStatus | None, access: NodeAccess | None, accounts: Accounts | None, container: Container | None, matches: Matches
) -> Iterator[Hit]:
    if own is None or access is None or container is None or not container.inside:
        if not matches.looked:
            raise Skip("not in a container, or the rights of the process are not known")
        return
    denied = [node for node in access.nodes if not node.opens_for(own)]
    if own.uid != 0 and denied:
        node = denied[0]
        yield Hit(
            found=f"user {own.uid} may not open {node.path} (mode {node.mode:o}, group {node.gid})",
            wanted=f"group {node.gid} among the groups of the user",
            evidence=(Evidence(own.source, f"uid {own.uid}, groups {own.groups}"), Evidence(node.path, f"mode {node.mode:o}, owner {node.uid}:{node.gid}")),
        )
    elif accounts is not None and accounts.users and own.uid not in accounts.users.values():
        yield Hit(
            found=f"user {own.uid} has no entry in /etc/passwd",
            wanted="an entry: HCCL looks the name up when there is more than one rank",
            evidence=(Evidence("/etc/passwd", f"no entry with id {own.uid}"),),
            confidence=Confidence.LIKELY,
            severity=Severity.WARN,
        )
