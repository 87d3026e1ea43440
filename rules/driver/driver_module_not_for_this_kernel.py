"""Whether the driver's modules were installed for the kernel that runs: the driver copies them below /lib/modules of one kernel."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.kernel import Modules
from doctor.facts.npu import NpuPresence
from doctor.facts.startup import DriverKernels
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches

_PREFIXES = ("drv_", "ascend_", "davinci_", "devdrv")


def judge(
    kernels: DriverKernels | None, modules: Modules | None, container: Container | None, presence: NpuPresence | None, matches: Matches
) -> Iterator[Hit]:
    if kernels is None or modules is None:
        if not matches.looked:
            raise Skip("the modules of the installed kernels are not known, and no log was given")
        return
    if container is not None and container.inside:
        raise Skip("inside a container the host's modules do not count")
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if any(name.startswith(_PREFIXES) for name in modules.names):
        return
    others = [name for name, held in kernels.kernels.items() if held]
    if kernels.kernels.get(kernels.running) is not False or not others:
        return
    yield Hit(
        found=f"the running kernel {kernels.running} has no drv_ module; {', '.join(others[:4])} has them",
        wanted=f"drv_ modules in /lib/modules/{kernels.running}",
        evidence=(Evidence(f"/lib/modules/{kernels.running}", "no drv_*.ko"), Evidence(f"/lib/modules/{others[0]}", "drv_*.ko")),
        values={"old_kernel": others[0]},
    )
