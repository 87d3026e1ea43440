"""The machine: processor, memory, operating system, disks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
