"""Memory of the host, of the server's cgroup (both versions) and of /dev/shm, read through the Host."""

from __future__ import annotations

import re
from dataclasses import replace

from doctor.facts import HostFacts
from doctor.facts.machine import Disks
from doctor.facts.number import whole
from doctor.facts.processes import parse_status
from doctor.host import KIB, Host, Kind, Unavailable
from doctor.watch.sample import HostSample

MOST_SHM = 4000
"""Files in /dev/shm whose sizes are added up."""
_NO_LIMIT = 1 << 60
"""cgroup v1 says "no limit" with a number near 2^63."""


class HostMemory:
    """Remembers where the cgroup is mounted and how large /dev/shm is."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._cgroup: tuple[int, str] | None = None
        self._shm_total: int | None = None

    def sample(self, pid: int | None) -> HostSample:
        """Now; the cgroup is that of this process."""
        text = self._host.read("/proc/meminfo", 16 * KIB)
        values = parse_status(text) if isinstance(text, str) else {}
        cgroup = HostSample() if pid is None else self._cgroup_memory(pid)
        shm, files = self._shm()
        return replace(
            cgroup, available=kilobytes(values, "MemAvailable"), total=kilobytes(values, "MemTotal"), shm=shm, shm_files=files, shm_size=self._shm_size(),
        )  # fmt: skip

    def _cgroup_memory(self, pid: int) -> HostSample:
        if self._cgroup is None or self._cgroup[0] != pid:  # after a restart it may be another container's
            self._cgroup = pid, self._find_cgroup(pid)
        folder = self._cgroup[1]
        if not folder:
            return HostSample()
        current, most = (self._number(f"{folder}/{name}") for name in (("memory.current", "memory.max") if _is_v2(folder) else ("memory.usage_in_bytes", "memory.limit_in_bytes")))
        text = self._host.read(f"{folder}/memory.stat", 16 * KIB)
        stat = dict(re.findall(r"^(\w{1,40}) (\d{1,19})$", text, re.MULTILINE)) if isinstance(text, str) else {}
        limit = most if most is not None and most < _NO_LIMIT else None
        anon, file = (stat.get("anon"), stat.get("file")) if _is_v2(folder) else (stat.get("total_rss"), stat.get("total_cache"))
        return HostSample(cgroup=current, cgroup_limit=limit, cgroup_anon=whole(anon), cgroup_file=whole(file), cgroup_shmem=whole(stat.get("shmem")))

    def _find_cgroup(self, pid: int) -> str:
        """The memory cgroup of a process, as it is mounted here; "" where there is none."""
        text = self._host.read(f"/proc/{pid}/cgroup", 16 * KIB)
        for line in text.splitlines() if isinstance(text, str) else []:
            number, controllers, path = (line.split(":", 2) + ["", ""])[:3]
            base = "/sys/fs/cgroup" if number == "0" and not controllers else "/sys/fs/cgroup/memory" if "memory" in controllers.split(",") else ""
            for folder in (f"{base}{path}".rstrip("/"), base) if base and ".." not in path else ():
                if not isinstance(self._host.stat(f"{folder}/{'memory.current' if _is_v2(folder) else 'memory.usage_in_bytes'}"), Unavailable):
                    return folder
        return ""

    def _number(self, path: str) -> int | None:
        text = self._host.read(path, KIB)
        return whole(text.strip()) if isinstance(text, str) else None

    def _shm(self) -> tuple[int | None, int | None]:
        names = self._host.list("/dev/shm/*")
        if isinstance(names, Unavailable):
            return None, None
        infos = [self._host.stat(name) for name in names[:MOST_SHM]]
        return sum(info.size for info in infos if not isinstance(info, Unavailable) and info.kind is Kind.FILE), len(names)

    def _shm_size(self) -> int | None:
        """Of the file system; asked of `df` once, since it does not change while a container runs."""
        if self._shm_total is None:
            disks = HostFacts(self._host).get(Disks)
            disk = None if isinstance(disks, Unavailable) else disks.by_mount.get("/dev/shm")
            self._shm_total = disk.size if disk is not None else 0
        return self._shm_total or None


def _is_v2(folder: str) -> bool:
    return not folder.startswith("/sys/fs/cgroup/memory")


def kilobytes(values: dict[str, str], name: str) -> int | None:
    number = whole(values.get(name, "").partition(" ")[0])
    return None if number is None else number * KIB


__all__ = ["HostMemory", "kilobytes"]
