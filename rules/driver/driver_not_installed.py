"""NPU hardware on a host without a driver."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.driver import DriverInstall
from doctor.facts.npu import DeviceNodes, PciNpus
from doctor.finding import Evidence, Hit, Skip


def judge(install: DriverInstall, pci: PciNpus, nodes: DeviceNodes, container: Container | None) -> Iterator[Hit]:
    if container is not None and container.inside:
        raise Skip("inside a container the driver belongs to the host")
    if not pci.devices:
        raise Skip("PCI shows no NPU")
    if install.version_file == "missing" and nodes.managers.get("davinci_manager") is False:
        yield Hit(
            found=f"{len(pci.devices)} NPUs on PCI, but no {install.root}/driver/version.info and no /dev/davinci_manager",
            wanted="an installed HDK driver",
            evidence=(
                Evidence(pci.source, f"{pci.devices[0].address} 19e5:{pci.devices[0].device}"),
                Evidence(f"{install.root}/driver/version.info", "missing"),
            ),
        )
