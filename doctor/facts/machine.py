"""The machine: processor, memory, operating system, disks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.ask import answer, ran
from doctor.facts.number import whole
from doctor.host import KIB, Host, Output, Probe, Unavailable, Why
from doctor.record import dataclass


@dataclass(frozen=True)
class Machine:
    """Processor and platform. `arch` is `uname -m` (aarch64, x86_64)."""

    arch: str | None = None
    cpu_vendor: str | None = None
    """"Kunpeng", "Intel", "AMD", "Phytium" …"""
    cpu_model: str | None = None
    """For people: "Kunpeng 920 7260", "Intel(R) Xeon(R) …"."""
    cpus: int | None = None
    sockets: int | None = None
    cpu_flags: frozenset[str] | None = None
    page_size: int | None = None
    """Bytes."""
    hypervisor: str | None = None
    """"" on bare metal, "kvm", "vmware" … in a virtual machine, None where it was not told."""
    source: str = ""


@dataclass(frozen=True)
class OperatingSystem:
    """Distribution, kernel and C library. `id` as in os-release (openeuler, ubuntu, kylin)."""

    id: str | None = None
    version_id: str | None = None
    name: str | None = None
    """PRETTY_NAME."""
    kernel: str | None = None
    """`uname -r`."""
    glibc: str | None = None
    source: str = ""


@dataclass(frozen=True)
class Memory:
    """Host memory in bytes, from /proc/meminfo and the cgroup."""

    total: int | None = None
    available: int | None = None
    swap_total: int | None = None
    swap_free: int | None = None
    commit_limit: int | None = None
    committed: int | None = None
    cgroup_limit: int | None = None
    huge_pages_total: int | None = None
    huge_page_size: int | None = None
    source: str = ""


@dataclass(frozen=True)
class Disk:
    """One mounted file system, bytes."""

    mount: str
    filesystem: str
    size: int
    available: int


@dataclass(frozen=True)
class Disks:
    """File systems told by `df` or statvfs; `/dev/shm` is among them when it is mounted."""

    by_mount: Mapping[str, Disk] = field(default_factory=dict)
    source: str = ""


_VENDORS = {
    "hisilicon": "Kunpeng", "0x48": "Kunpeng", "phytium": "Phytium", "0x70": "Phytium", "genuineintel": "Intel",
    "authenticamd": "AMD", "hygongenuine": "Hygon", "centaurhauls": "Zhaoxin", "shanghai": "Zhaoxin", "arm": "ARM",
    "0x41": "ARM", "ampere": "Ampere", "0xc0": "Ampere",
}  # fmt: skip
"""lscpu's vendor, cpuinfo's vendor_id or "CPU implementer" (the registry of Arm's MIDR) -> the name people use."""

_KUNPENG_PARTS = {"0xd01": "Kunpeng 920"}
"""CPU part of implementer 0x48; later cores are named by their number, since one number covers several products."""

_CORE_NAMES = {"taishan-v110": "Kunpeng 920"}
"""Core names that newer lscpu prints instead of the product."""

_VIRTUAL = ("qemu", "kvm", "vmware", "xen", "virtualbox", "openstack", "bochs", "parallels", "virtual machine", "alibaba cloud ecs", "amazon ec2")
"""Words in the DMI vendor or product name of virtual machines."""

_UNLIMITED = 1 << 60
"""cgroup v1 says "no limit" with a number near 2^63."""

_DF_TIMEOUT = 5.0
"""Seconds; a dead network mount makes `df` hang."""


def _colon_values(text: str) -> dict[str, str]:
    """First value of every "key : value" line, keys in lower case."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            values.setdefault(key.strip().lower(), value.strip())
    return values


def _told(text: str | None) -> str | None:
    return text if text and text not in ("-", "unknown") else None


def _vendor(text: str | None) -> str | None:
    told = _told(text)
    return _VENDORS.get(told.lower(), told) if told else None


def parse_lscpu(text: str) -> Machine | None:
    """`lscpu` in the C locale. `hypervisor` stays None where no line tells it: absence of the line proves nothing on aarch64."""
    values = _colon_values(text)
    if "architecture" not in values and "vendor id" not in values and "model name" not in values:
        return None
    model, bios = _told(values.get("model name")), _told(values.get("bios model name"))
    if bios and "kunpeng" in bios.lower():
        model = bios
    flags = values.get("flags")
    return Machine(
        arch=_told(values.get("architecture")),
        cpu_vendor=_vendor(values.get("vendor id")),
        cpu_model=_CORE_NAMES.get(model.lower(), model) if model else None,
        cpus=whole(values.get("cpu(s)")),
        sockets=whole(values.get("socket(s)")),
        cpu_flags=frozenset(flags.split()) if flags else None,
        hypervisor=_told(values.get("hypervisor vendor", "").lower()),
        source="lscpu",
    )


def parse_cpuinfo(text: str) -> Machine | None:
    """/proc/cpuinfo of x86 or Arm. Without the flag "hypervisor" an x86 processor is not in a virtual machine."""
    values = _colon_values(text)
    implementer = values.get("cpu implementer")
    flags_text = values.get("flags", values.get("features"))
    if implementer is None and "vendor_id" not in values and flags_text is None:
        return None
    flags = frozenset(flags_text.split()) if flags_text else None
    hypervisor = None
    if "vendor_id" in values and flags is not None:
        hypervisor = "virtual" if "hypervisor" in flags else ""
    return Machine(
        arch="aarch64" if implementer else ("x86_64" if "vendor_id" in values else None),
        cpu_vendor=_vendor(implementer or values.get("vendor_id")),
        cpu_model=_told(values.get("model name")) or _arm_model(implementer, values.get("cpu part")),
        cpus=sum(1 for line in text.splitlines() if line.partition(":")[0].strip() == "processor") or None,
        cpu_flags=flags,
        hypervisor=hypervisor,
        source="/proc/cpuinfo",
    )


def _arm_model(implementer: str | None, part: str | None) -> str | None:
    if implementer is None or part is None:
        return None
    vendor = _vendor(implementer)
    if vendor == "Kunpeng" and part.lower() in _KUNPENG_PARTS:
        return _KUNPENG_PARTS[part.lower()]
    return f"{vendor} (part {part})"


def parse_dmi(vendor: str, product: str) -> str | None:
    """The hypervisor by the machine's DMI names: "" for a physical machine, None if nothing was told."""
    told = f"{vendor} {product}".strip().lower()
    if not told:
        return None
    return next((word for word in _VIRTUAL if word in told), "")


def _hypervisor(host: Host, lscpu: Machine | None, cpuinfo: Machine | None) -> str | None:
    if lscpu is not None and lscpu.hypervisor:
        return lscpu.hypervisor
    names = [known(host.read(f"/sys/class/dmi/id/{name}", 4 * KIB)) or "" for name in ("sys_vendor", "product_name")]
    by_dmi = parse_dmi(*(name.strip() for name in names))
    return by_dmi or (cpuinfo.hypervisor if cpuinfo is not None and cpuinfo.hypervisor is not None else by_dmi)


def read_machine(host: Host, facts: Facts) -> Machine | Unavailable:
    """Merges what lscpu and /proc/cpuinfo tell: lscpu counts processors rightly where cpuinfo is cut."""
    lscpu_text, cpuinfo_text = answer(host, ["lscpu"]), host.read("/proc/cpuinfo")
    lscpu = parse_lscpu(lscpu_text) if isinstance(lscpu_text, str) else None
    cpuinfo = parse_cpuinfo(cpuinfo_text) if isinstance(cpuinfo_text, str) else None
    arch = answer(host, ["uname", "-m"])
    if lscpu is None and cpuinfo is None and isinstance(arch, Unavailable):
        return next(reason for reason in (cpuinfo_text, arch) if isinstance(reason, Unavailable))
    first, second = lscpu or cpuinfo or Machine(), cpuinfo or Machine()
    return Machine(
        arch=(arch.strip() or None if isinstance(arch, str) else None) or first.arch or second.arch,
        cpu_vendor=first.cpu_vendor or second.cpu_vendor,
        cpu_model=first.cpu_model or second.cpu_model,
        cpus=first.cpus or second.cpus,
        sockets=first.sockets,
        cpu_flags=second.cpu_flags or first.cpu_flags,
        page_size=whole(known(answer(host, ["getconf", "PAGESIZE"]))),
        hypervisor=_hypervisor(host, lscpu, cpuinfo),
        source=", ".join(part.source for part in (lscpu, cpuinfo) if part) or "uname -m",
    )


def parse_os_release(text: str) -> OperatingSystem | None:
    """os-release: shell-like assignments; the id in lower case."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and key.isidentifier():
            values[key] = value.strip().strip("\"'")
    if not values.get("ID") and not values.get("NAME"):
        return None
    return OperatingSystem(
        id=(values.get("ID") or values["NAME"]).lower(),
        version_id=values.get("VERSION_ID") or None,
        name=values.get("PRETTY_NAME") or values.get("NAME"),
        source="/etc/os-release",
    )


def parse_glibc(text: str) -> str | None:
    """ "2.35" of `getconf GNU_LIBC_VERSION` or of the first line of `ldd --version`; None for musl."""
    lines = text.strip().splitlines()
    if not lines or not re.search(r"(?i)glibc|gnu libc", lines[0][:500]):
        return None
    numbers = re.findall(r"\b[0-9]{1,2}\.[0-9]{1,3}\b", lines[0][:500])
    return numbers[-1] if numbers else None


def read_operating_system(host: Host, facts: Facts) -> OperatingSystem | Unavailable:
    text = host.read("/etc/os-release")
    if isinstance(text, Unavailable):
        text = host.read("/usr/lib/os-release")
    found = parse_os_release(text) if isinstance(text, str) else None
    kernel = host.read("/proc/sys/kernel/osrelease")
    if isinstance(kernel, Unavailable):
        kernel = answer(host, ["uname", "-r"])
    if found is None and isinstance(kernel, Unavailable):
        return text if isinstance(text, Unavailable) else kernel
    glibc = parse_glibc(known(answer(host, ["getconf", "GNU_LIBC_VERSION"])) or "")
    glibc = glibc or parse_glibc(known(answer(host, ["ldd", "--version"])) or "")
    return replace(found or OperatingSystem(source="uname -r"), kernel=(known(kernel) or "").strip() or None, glibc=glibc)


def parse_meminfo(text: str) -> Memory | None:
    """/proc/meminfo; sizes there are in KiB whatever "kB" suggests."""
    values = {key: whole(value.split()[0]) if value.split() else None for key, value in _colon_values(text).items()}

    def kib(key: str) -> int | None:
        value = values.get(key)
        return None if value is None else value * KIB

    if "memtotal" not in values:
        return None
    return Memory(
        total=kib("memtotal"), available=kib("memavailable"), swap_total=kib("swaptotal"), swap_free=kib("swapfree"),
        commit_limit=kib("commitlimit"), committed=kib("committed_as"), huge_pages_total=values.get("hugepages_total"),
        huge_page_size=kib("hugepagesize"), source="/proc/meminfo",
    )  # fmt: skip


def parse_cgroup_limit(text: str) -> int | None:
    """memory.max or memory.limit_in_bytes; None for "max" and for numbers that mean it."""
    value = whole(text)
    return value if value is not None and 0 < value < _UNLIMITED else None


def cgroup_limit_files(text: str) -> tuple[str, ...]:
    """Files that may limit the memory of a process with this /proc/PID/cgroup, from its own group up to the root."""
    files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
    for line in text.splitlines()[:64]:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        steps = [step for step in path.split("/") if step]
        if ".." in steps or len(steps) > _MOST_CGROUP_STEPS:
            continue
        if number == "0" and not controllers:
            root, name = "/sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        files += ["/".join([root, *steps[:depth], name]) for depth in range(len(steps), 0, -1)]
    return tuple(dict.fromkeys(files))


_MOST_CGROUP_STEPS = 16


def read_memory(host: Host, facts: Facts) -> Memory | Unavailable:
    text = host.read("/proc/meminfo")
    if isinstance(text, Unavailable):
        return text
    found = parse_meminfo(text)
    if found is None:
        return Unavailable("/proc/meminfo", Why.MISSING, "no MemTotal in it")
    limits = [parse_cgroup_limit(known(host.read(path, KIB)) or "") for path in cgroup_limit_files(known(host.read("/proc/self/cgroup")) or "")]
    lowest = min((limit for limit in limits if limit is not None), default=None)
    return replace(found, cgroup_limit=lowest)


def parse_df(text: str) -> tuple[Disk, ...]:
    """`df -kP`: one line a file system; device names and mount points may hold blanks."""
    disks: list[Disk] = []
    for line in text.splitlines():
        words = line[: 8 * KIB].split()
        for at in range(1, len(words) - 4):
            total, free = whole(words[at]), whole(words[at + 2])
            if total is not None and free is not None and words[at + 3].endswith(("%", "-")) and words[at + 4].startswith("/"):
                disks.append(Disk(" ".join(words[at + 4 :]), " ".join(words[:at]), total * KIB, free * KIB))
                break
    return tuple(disks)


def read_disks(host: Host, facts: Facts) -> Disks | Unavailable:
    """`/` and `/dev/shm` first, since a dead network mount may keep the full list from ever coming."""
    main = ran(host, ["df", "-kP", "/", "/dev/shm"], _DF_TIMEOUT)
    every = ran(host, ["df", "-kP"], _DF_TIMEOUT)
    disks = [disk for output in (every, main) if isinstance(output, Output) for disk in parse_df(output.stdout)]
    if not disks:
        return main if isinstance(main, Unavailable) else Unavailable("df -kP / /dev/shm", Why.MISSING, main.text.strip()[:200])
    return Disks({disk.mount: disk for disk in disks}, "df -kP")


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Machine, read_machine, Probe.PROCESS),
    Provider(OperatingSystem, read_operating_system, Probe.PROCESS),
    Provider(Memory, read_memory),
    Provider(Disks, read_disks, Probe.PROCESS),
)
