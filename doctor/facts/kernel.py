"""Kernel settings: sysctls and who sets them, transparent huge pages, frequency governors, NUMA, modules, limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.number import span, whole
from doctor.host import KIB, Host, Unavailable, Why
from doctor.record import dataclass


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


SYSCTLS = (
    "vm.swappiness", "vm.overcommit_memory", "vm.overcommit_ratio", "vm.nr_hugepages", "vm.zone_reclaim_mode", "vm.max_map_count",
    "vm.min_free_kbytes", "vm.dirty_ratio", "kernel.numa_balancing", "kernel.pid_max", "kernel.threads-max",
    "kernel.sched_migration_cost_ns", "kernel.yama.ptrace_scope", "kernel.dmesg_restrict", "kernel.shmmax", "kernel.core_pattern",
    "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_tw_reuse", "net.core.somaxconn",
    "net.core.rmem_max", "net.core.wmem_max", "net.netfilter.nf_conntrack_max", "fs.file-max", "fs.nr_open",
    "fs.inotify.max_user_instances", "fs.inotify.max_user_watches",
)  # fmt: skip
"""The running values that are looked at."""

_MOVED = {"kernel.sched_migration_cost_ns": "/sys/kernel/debug/sched/migration_cost_ns"}
"""Where kernel 5.13 and later keep what was a sysctl."""

SYSCTL_FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d")
"""From the strongest: of files with one name only that of the first folder counts (sysctl.d(5))."""

_MOST_SYSCTL_FILES = 200
_MOST_CPUS = 4096


def parse_sysctl_file(text: str) -> tuple[tuple[str, str], ...]:
    """(dotted key, value) of every assignment in a sysctl.d file, in order. "-key = value" and "net/ipv4/x = y" are understood."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        stripped = line.strip()
        key, equals, value = stripped.partition("=")
        key = key.strip().removeprefix("-").strip()
        if not equals or not key or stripped[0] in "#;":
            continue
        found.append((dotted(key), " ".join(value.split())))
    return tuple(found)


def dotted(key: str) -> str:
    """The dotted name of a sysctl key; where the first separator is a slash, dots and slashes have changed places (sysctl.d(5))."""
    first = next((sign for sign in key if sign in "./"), ".")
    return key.translate(str.maketrans("./", "/.")) if first == "/" else key


def sysctl_path(key: str) -> str:
    """ "vm.swappiness" -> "/proc/sys/vm/swappiness"."""
    return "/proc/sys/" + key.translate(str.maketrans("./", "/."))


def sysctl_files(host: Host) -> tuple[str, ...]:
    """The files that `sysctl --system` reads, in its order; /etc/sysctl.conf comes last and wins."""
    by_name: dict[str, str] = {}
    for folder in SYSCTL_FOLDERS:
        paths = host.list(f"{folder}/*.conf")
        for path in () if isinstance(paths, Unavailable) else paths:
            by_name.setdefault(path.rpartition("/")[2], path)
    files = [by_name[name] for name in sorted(by_name)][:_MOST_SYSCTL_FILES]
    return (*(path for path in files if host.resolve(path) != "/etc/sysctl.conf"), "/etc/sysctl.conf")


def read_sysctls(host: Host, facts: Facts) -> Sysctls | Unavailable:
    values: dict[str, str] = {}
    reason: Unavailable | None = None
    for key in SYSCTLS:
        value = host.read(sysctl_path(key), 4 * KIB)
        if isinstance(value, Unavailable) and key in _MOVED:
            value = host.read(_MOVED[key], 4 * KIB)
        if isinstance(value, Unavailable):
            reason = reason or value
        else:
            values[key] = " ".join(value.split())
    if not values and reason is not None:
        return reason
    set_in: dict[str, tuple[tuple[str, str], ...]] = {}
    for path in sysctl_files(host):
        text = host.read(path, 64 * KIB)
        for key, value in () if isinstance(text, Unavailable) else parse_sysctl_file(text):
            set_in[key] = (*set_in.get(key, ()), (path, value))
    return Sysctls(values, set_in)


def parse_transparent_huge_pages(text: str) -> TransparentHugePages | None:
    """The word in brackets of "always [madvise] never"."""
    match = re.search(r"\[(always|madvise|never)\]", text)
    return TransparentHugePages(match[1]) if match else None


def read_transparent_huge_pages(host: Host, facts: Facts) -> TransparentHugePages | Unavailable:
    path = TransparentHugePages("").source
    text = host.read(path, KIB)
    if isinstance(text, Unavailable):
        return text
    return parse_transparent_huge_pages(text) or Unavailable(path, Why.MISSING, f"not understood: {text.strip()[:80]}")


def read_governors(host: Host, facts: Facts) -> Governors | Unavailable:
    pattern = "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"
    paths = host.list(pattern)
    if isinstance(paths, Unavailable):
        return paths
    counts: dict[str, int] = {}
    for path in paths[:_MOST_CPUS]:
        text = host.read(path, KIB)
        if isinstance(text, str) and text.strip():
            counts[text.strip()] = counts.get(text.strip(), 0) + 1
    return Governors(counts) if counts else Unavailable(pattern, Why.MISSING, "no cpufreq: a virtual machine, or left to the BIOS")


def parse_modules(text: str) -> frozenset[str]:
    """Names of /proc/modules or of `lsmod` (whose head line is left out)."""
    names = (line.split(None, 1)[0] for line in text.splitlines() if line.strip())
    return frozenset(name for name in names if re.fullmatch(r"[\w-]{1,64}", name, re.ASCII) and name != "Module")


def read_modules(host: Host, facts: Facts) -> Modules | Unavailable:
    text = host.read("/proc/modules")
    return text if isinstance(text, Unavailable) else Modules(parse_modules(text))


def read_numa_nodes(host: Host, facts: Facts) -> NumaNodes | Unavailable:
    path = "/sys/devices/system/node/online"
    text = host.read(path, KIB)
    if isinstance(text, Unavailable):
        return text
    count = span(text)
    return Unavailable(path, Why.MISSING, f"not understood: {text.strip()[:80]}") if count is None else NumaNodes(count)


def parse_accounts(text: str) -> dict[str, int]:
    """Name -> id of /etc/passwd or /etc/group: the third field of a line."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        parts = line.split(":")
        number = whole(parts[2]) if len(parts) > 2 else None
        if number is not None and parts[0]:
            found.setdefault(parts[0], number)
    return found


def read_accounts(host: Host, facts: Facts) -> Accounts | Unavailable:
    """Both files or nothing: half an answer would make an account look missing."""
    users, groups = host.read("/etc/passwd"), host.read("/etc/group")
    if isinstance(users, Unavailable):
        return users
    if isinstance(groups, Unavailable):
        return groups
    return Accounts(parse_accounts(users), parse_accounts(groups))


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Sysctls, read_sysctls),
    Provider(TransparentHugePages, read_transparent_huge_pages),
    Provider(Governors, read_governors),
    Provider(Modules, read_modules),
    Provider(NumaNodes, read_numa_nodes),
    Provider(Accounts, read_accounts),
)
