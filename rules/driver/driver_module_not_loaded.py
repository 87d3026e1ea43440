"""Whether the kernel modules of an installed driver are loaded on the host."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.driver import DriverInstall
from doctor.facts.kernel import Modules
from doctor.facts.npu import DeviceNodes, NpuPresence
from doctor.finding import Evidence, Hit, Skip

_PREFIXES = ("drv_", "ascend_", "davinci_", "devdrv")


def judge(install: DriverInstall, modules: Modules, nodes: DeviceNodes, container: Container | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if container is not None and container.inside:
        raise Skip("inside a container the host's modules do not count")
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if any(name.startswith(_PREFIXES) for name in modules.names):
        return  # loaded, whatever is left of the driver's own files
    if install.version_file != "file":
        raise Skip("no driver is installed")
    if nodes.managers.get("davinci_manager") is False:
        yield Hit(
            found="no drv_ module is loaded and /dev/davinci_manager is missing",
            wanted="drv_ modules are loaded and /dev/davinci_manager exists",
            evidence=(Evidence(modules.source, "no module named drv_*"), Evidence("/dev/davinci_manager", "missing")),
        )
