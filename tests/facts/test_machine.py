"""Processor, system, memory and disks as rules need them, and None where nobody told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.machine import (
    Disks,
    Machine,
    Memory,
    OperatingSystem,
    cgroup_limit_files,
    parse_cgroup_limit,
    parse_cpuinfo,
    parse_df,
    parse_dmi,
    parse_glibc,
    parse_lscpu,
    parse_meminfo,
    parse_os_release,
)
from doctor.host import Unavailable, Why

from .hosts import facts_of

GIB = 1024**3
ARM = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x48\nCPU part\t: {part}\n\nprocessor\t: 1\nFeatures\t: fp asimd\nCPU implementer\t: 0x48\n"
X86 = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu avx2{more}\n"
LSCPU = """\
Architecture:            aarch64
CPU(s):                  192
Vendor ID:               HiSilicon
  BIOS Vendor ID:        HiSilicon
  Model name:            -
  BIOS Model name:       HUAWEI Kunpeng 920 7260
  Socket(s):             2
"""


def test_kunpeng_by_lscpu_in_its_indented_form() -> None:
    machine = parse_lscpu(LSCPU)
    assert machine is not None
    assert (machine.arch, machine.cpu_vendor, machine.cpus, machine.sockets) == ("aarch64", "Kunpeng", 192, 2)
    assert machine.cpu_model == "HUAWEI Kunpeng 920 7260"
    assert machine.hypervisor is None


@pytest.mark.parametrize(("part", "model"), [("0xd01", "Kunpeng 920"), ("0xd02", "Kunpeng (part 0xd02)")])
def test_kunpeng_by_cpuinfo(part: str, model: str) -> None:
    machine = parse_cpuinfo(ARM.format(part=part))
    assert machine is not None
    assert (machine.arch, machine.cpu_vendor, machine.cpu_model, machine.cpus) == ("aarch64", "Kunpeng", model, 2)
    assert machine.cpu_flags == frozenset({"fp", "asimd"})
    assert machine.hypervisor is None


def test_phytium_by_its_implementer() -> None:
    machine = parse_cpuinfo("CPU implementer : 0x70\nCPU part : 0x662\n")
    assert machine is not None and machine.cpu_vendor == "Phytium"


@pytest.mark.parametrize(("more", "hypervisor"), [("", ""), (" hypervisor", "virtual")])
def test_the_flag_decides_about_a_virtual_machine_on_x86(more: str, hypervisor: str) -> None:
    machine = parse_cpuinfo(X86.format(more=more))
    assert machine is not None and (machine.cpu_vendor, machine.hypervisor) == ("Intel", hypervisor)


@pytest.mark.parametrize(
    ("vendor", "product", "hypervisor"),
    [("QEMU", "KVM Virtual Machine", "qemu"), ("Huawei", "Atlas 800I A2", ""), ("", "", None), ("VMware, Inc.", "VMware7,1", "vmware")],
)
def test_hypervisor_by_dmi(vendor: str, product: str, hypervisor: str | None) -> None:
    assert parse_dmi(vendor, product) == hypervisor


def test_machine_merges_what_each_source_tells(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        {"/proc/cpuinfo": ARM.format(part="0xd01"), "/sys/class/dmi/id/sys_vendor": "Huawei\n"},
        {"lscpu": LSCPU, "uname -m": "aarch64", "getconf PAGESIZE": "65536"},
    )
    machine = facts.get(Machine)
    assert isinstance(machine, Machine)
    assert (machine.cpus, machine.page_size, machine.hypervisor) == (192, 65536, "")
    assert machine.cpu_flags == frozenset({"fp", "asimd"})


def test_machine_from_files_alone(tmp_path: Path) -> None:
    machine = facts_of(tmp_path, {"/proc/cpuinfo": X86.format(more="")}).get(Machine)
    assert isinstance(machine, Machine)
    assert (machine.arch, machine.cpus, machine.page_size, machine.sockets) == ("x86_64", 1, None, None)


def test_operating_system(tmp_path: Path) -> None:
    files = {"/etc/os-release": 'NAME="openEuler"\nID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03 (LTS-SP4)"\n'}
    commands = {"uname -r": "5.10.0-216.aarch64", "ldd --version": "ldd (GNU libc) 2.34\nCopyright (C) 2021"}
    system = facts_of(tmp_path, files, commands).get(OperatingSystem)
    assert isinstance(system, OperatingSystem)
    assert (system.id, system.version_id, system.kernel, system.glibc) == ("openeuler", "22.03", "5.10.0-216.aarch64", "2.34")
    assert system.name == "openEuler 22.03 (LTS-SP4)"


@pytest.mark.parametrize(
    ("text", "version"),
    [("glibc 2.35\n", "2.35"), ("ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35\n", "2.35"), ("musl libc (x86_64)\nVersion 1.2.4\n", None), ("", None)],
)
def test_glibc(text: str, version: str | None) -> None:
    assert parse_glibc(text) == version


MEMINFO = "MemTotal: 1048576 kB\nMemAvailable: 524288 kB\nSwapTotal: 0 kB\nHugePages_Total: 8\nHugepagesize: 2048 kB\n"


def test_memory_in_bytes_and_none_for_what_is_not_there() -> None:
    memory = parse_meminfo(MEMINFO)
    assert memory is not None
    assert (memory.total, memory.available, memory.swap_total, memory.swap_free) == (GIB, GIB // 2, 0, None)
    assert (memory.huge_pages_total, memory.huge_page_size) == (8, 2 * 1024**2)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"/sys/fs/cgroup/memory.max": "max\n"}, None),
        ({"/sys/fs/cgroup/memory.max": "1073741824\n"}, GIB),
        ({"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, None),
        ({"/sys/fs/cgroup/memory/memory.limit_in_bytes": "2147483648\n"}, 2 * GIB),
        ({"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "4096\n"}, 4096),
        ({"/proc/self/cgroup": "4:memory:/x\n1:name=systemd:/y\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "8192\n"}, 8192),
    ],
)
def test_the_tightest_cgroup_limit_counts(tmp_path: Path, files: dict[str, str], limit: int | None) -> None:
    memory = facts_of(tmp_path, {"/proc/meminfo": MEMINFO, **files}).get(Memory)
    assert isinstance(memory, Memory) and memory.cgroup_limit == limit


def test_a_cgroup_path_cannot_lead_elsewhere() -> None:
    assert all(".." not in path for path in cgroup_limit_files("0::/../../etc\n"))


def test_disks(tmp_path: Path) -> None:
    text = (
        "Filesystem     1024-blocks      Used Available Capacity Mounted on\noverlay 1853881088 212004864 1547636736 13% /\n"
        "shm 65536 0 65536 0% /dev/shm\nnas:/a b 10 5 5 50% /mnt/my models\n"
    )
    disks = facts_of(tmp_path, {}, {"df -kP / /dev/shm": text}).get(Disks)
    assert isinstance(disks, Disks)
    assert disks.by_mount["/dev/shm"].size == 64 * 1024**2
    assert disks.by_mount["/"].available == 1547636736 * 1024
    assert disks.by_mount["/mnt/my models"].filesystem == "nas:/a b"


def test_disks_that_nobody_recorded(tmp_path: Path) -> None:
    found = facts_of(tmp_path).get(Disks)
    assert isinstance(found, Unavailable) and found.why is Why.NOT_RECORDED


@given(st.text() | st.text(alphabet=" :\n0123456789%-/abcMemTotalkB", max_size=200))
def test_no_text_makes_a_parser_raise(text: str) -> None:
    for parser in (parse_lscpu, parse_cpuinfo, parse_os_release, parse_glibc, parse_meminfo, parse_cgroup_limit, parse_df, cgroup_limit_files):
        parser(text)
    parse_dmi(text, text)
