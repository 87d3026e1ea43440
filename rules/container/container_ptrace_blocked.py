"""Decides container-ptrace-blocked on a machine: a container without CAP_SYS_PTRACE on a kernel that asks for it."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.kernel import Sysctls
from doctor.facts.processes import CAP_SYS_PTRACE, OwnStatus
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches

SCOPE = "kernel.yama.ptrace_scope"


def judge(own: OwnStatus | None, sysctls: Sysctls | None, container: Container | None, matches: Matches) -> Iterator[Hit]:
    if own is None or sysctls is None or container is None or not container.inside:
        if not matches.looked:
            raise Skip("not in a container, or the rights of the process are not known")
        return
    scope = sysctls.values.get(SCOPE, "0")
    if not own.may(CAP_SYS_PTRACE) and scope != "0":
        told = f"no CAP_SYS_PTRACE, {SCOPE} is {scope}"
        yield Hit(found=told, wanted="--cap-add SYS_PTRACE", evidence=(Evidence(own.source, told),))
