"""Every recorded host tells the facts of its machine that a file or a command on it tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.facts import HostFacts, known
from doctor.facts.container import Container
from doctor.facts.driver import Driver, DriverInstall, Firmware
from doctor.facts.kernel import Governors, Modules, NumaNodes, Sysctls, TransparentHugePages
from doctor.facts.machine import Machine, Memory, OperatingSystem
from doctor.facts.network import Hccn
from doctor.facts.npu import Chip, DeviceNodes, NpuDetail, NpuPresence, Npus, PciNpus
from doctor.host.plain import PlainHost

HOSTS = Path(__file__).resolve().parents[2] / "fixtures" / "hosts"

MACHINES = {
    # name: family, chips, driver, davinci nodes, PCI NPUs, cards with an NPU network, cpus, thp
    "310p-wrong-kernels": ("310p", 4, "25.3.rc1", 4, 2, None, 96, "always"),
    "950-healthy": ("950", 8, "25.7.rc1.6", 8, 8, None, 256, "always"),
    "a2-healthy": ("a2", 8, "25.5.2", 8, 8, 8, 192, "always"),
    "a2-old-driver": ("a2", 8, "24.1.rc3", 8, 8, 8, 192, "always"),
    "a3-healthy": ("a3", 16, "26.0.rc1", 16, 16, 16, 640, "always"),
    "followed-the-article": ("a2", 8, "25.3.rc1", 8, 8, None, 192, "madvise"),
    "container-no-hal": (None, None, None, 1, None, None, 192, "always"),
    "no-npu": (None, None, None, 0, 0, None, 16, "madvise"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_facts_of_the_machine(name: str) -> None:
    facts = HostFacts(PlainHost(HOSTS / name))
    chip, npus, driver, machine = (known(facts.get(kind)) for kind in (Chip, Npus, Driver, Machine))
    nodes, pci, hccn, huge = (known(facts.get(kind)) for kind in (DeviceNodes, PciNpus, Hccn, TransparentHugePages))
    assert isinstance(nodes, DeviceNodes) and isinstance(machine, Machine) and isinstance(huge, TransparentHugePages)
    assert MACHINES[name] == (
        chip.family if isinstance(chip, Chip) else None,
        len(npus.chips) if isinstance(npus, Npus) else None,
        driver.version if isinstance(driver, Driver) else None,
        len(nodes.davinci),
        len(pci.devices) if isinstance(pci, PciNpus) else None,
        len(hccn.cards) if isinstance(hccn, Hccn) else None,
        machine.cpus,
        huge.enabled,
    )


@pytest.mark.parametrize("name", MACHINES)
def test_what_every_host_tells(name: str) -> None:
    facts = HostFacts(PlainHost(HOSTS / name))
    for kind in (Machine, OperatingSystem, Memory, Sysctls, Governors, NumaNodes, DriverInstall, NpuPresence, Container):
        assert known(facts.get(kind)) is not None, kind
    machine, system, sysctls = facts.get(Machine), facts.get(OperatingSystem), facts.get(Sysctls)
    assert isinstance(machine, Machine) and machine.page_size == 4096 and machine.cpu_vendor in ("Kunpeng", "Intel")
    assert isinstance(system, OperatingSystem) and system.kernel and system.id in ("openeuler", "ubuntu")
    assert isinstance(sysctls, Sysctls) and "vm.swappiness" in sysctls.values
    presence = facts.get(NpuPresence)
    assert isinstance(presence, NpuPresence) and presence.present is (name != "no-npu")


@pytest.mark.parametrize("name", [name for name, row in MACHINES.items() if row[1]])
def test_servers_with_a_driver_tell_firmware_health_and_modules(name: str) -> None:
    facts = HostFacts(PlainHost(HOSTS / name))
    firmware, detail, modules, install = (facts.get(kind) for kind in (Firmware, NpuDetail, Modules, DriverInstall))
    assert isinstance(firmware, Firmware) and isinstance(detail, NpuDetail)
    assert set(detail.firmware.values()) == {firmware.version} and set(detail.compatibility.values()) == {"OK"}
    assert detail.fault_codes and not any(detail.fault_codes.values())
    assert isinstance(modules, Modules) and "drv_svm" in modules.names
    assert isinstance(install, DriverInstall) and all(install.libraries.values()) and all(install.tools.values())


def test_the_container_has_neither_driver_nor_tools() -> None:
    facts = HostFacts(PlainHost(HOSTS / "container-no-hal"))
    container, install = facts.get(Container), facts.get(DriverInstall)
    assert isinstance(container, Container) and container.kind == "docker" and container.mounts is not None
    assert isinstance(install, DriverInstall) and not any(install.libraries.values()) and not install.tools["npu-smi"]
