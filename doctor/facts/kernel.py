"""Kernel settings: sysctls and who sets them, transparent huge pages, frequency governors, NUMA, modules, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sysctls:
    """Running values by dotted name ("vm.swappiness"); `set_in` lists (file, value) of every sysctl.d file that sets a key, in the order `sysctl --system` reads them."""

    values: Mapping[str, str] = field(default_factory=dict)
    set_in: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    source: str = "/proc/sys"


@dataclass(frozen=True)
class TransparentHugePages:
    """The chosen word of /sys/kernel/mm/transparent_hugepage/enabled: always, madvise or never."""

    enabled: str
    source: str = "/sys/kernel/mm/transparent_hugepage/enabled"


@dataclass(frozen=True)
class Governors:
    """CPU frequency governors: name -> how many CPUs have it. Unavailable where there is no cpufreq (virtual machine, BIOS)."""

    counts: Mapping[str, int]
    source: str = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"


@dataclass(frozen=True)
class Modules:
    """Names of loaded kernel modules."""

    names: frozenset[str]
    source: str = "/proc/modules"


@dataclass(frozen=True)
class NumaNodes:
    """How many NUMA nodes are online."""

    count: int
    source: str = "/sys/devices/system/node/online"


@dataclass(frozen=True)
class Accounts:
    """Names of local users and groups, with their ids."""

    users: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, int] = field(default_factory=dict)
    source: str = "/etc/passwd, /etc/group"
