"""What the kernel tells about doctor's own process, the NPU's device nodes, and the processes of a running vLLM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.number import hexadecimal, whole
from doctor.facts.vllm import VllmProcess, VllmProcesses
from doctor.host import KIB, MIB, Host, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex

CAP_DAC_OVERRIDE = 1
"""Bit of the capability to open files whatever their mode (capabilities(7))."""

CAP_SYS_PTRACE = 19
"""Bit of the capability to look into other processes."""


@dataclass(frozen=True)
class OwnStatus:
    """Who doctor runs as: effective ids, all groups, and the effective capabilities as a bit mask; None where it was not told."""

    uid: int
    groups: tuple[int, ...] = ()
    capabilities: int | None = None
    source: str = "/proc/self/status"

    def may(self, capability: int) -> bool:
        """Whether the capability with this bit is there; without a mask only root has it."""
        return self.uid == 0 if self.capabilities is None else bool(self.capabilities >> capability & 1)


@dataclass(frozen=True)
class Node:
    """One device node: permission bits and owner."""

    path: str
    mode: int
    uid: int
    gid: int

    def opens_for(self, own: OwnStatus) -> bool:
        """Whether its mode lets this process read and write it. The device cgroup may still refuse."""
        if own.may(CAP_DAC_OVERRIDE):
            return True
        shift = 6 if own.uid == self.uid else 3 if self.gid in own.groups else 0
        return self.mode >> shift & 0o6 == 0o6


@dataclass(frozen=True)
class NodeAccess:
    """The NPU's device nodes that are there, with their modes; Unavailable where a recording did not keep modes."""

    nodes: tuple[Node, ...]
    source: str = "/dev"


@dataclass(frozen=True)
class ServerProcess:
    """One process of a running vLLM as /proc shows it; sizes in KiB."""

    pid: int
    role: str
    swapped: int | None = None
    resident: int | None = None
    cpus_allowed: str | None = None
    """Cpus_allowed_list, "0-191"."""
    limits: Mapping[str, int | None] = field(default_factory=dict)
    """Soft limit by its name ("Max open files"); None for unlimited."""
    allocator: bool | None = None
    """Whether jemalloc or tcmalloc is mapped."""


@dataclass(frozen=True)
class ServerProcesses:
    """Every process of a running vLLM; empty if none runs."""

    processes: tuple[ServerProcess, ...]
    source: str = "/proc/PID"


MOST_PROCESSES = 64
MANAGERS = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_ALLOCATOR = regex(r"lib(?:jemalloc|tcmalloc)")
_LIMIT = regex(r"^(Max [a-z ]{4,24}?) {2,}(\d{1,20}|unlimited)\b", re.MULTILINE)


def parse_status(text: str) -> dict[str, str]:
    """Name -> value of /proc/PID/status."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def parse_own(text: str) -> OwnStatus | None:
    values = parse_status(text)
    uids, gids = values.get("Uid", "").split(), values.get("Gid", "").split()
    uid = whole(uids[1]) if len(uids) > 1 else None
    if uid is None:
        return None
    groups = [number for word in (*gids[1:2], *values.get("Groups", "").split()) if (number := whole(word)) is not None]
    return OwnStatus(uid, tuple(dict.fromkeys(groups)), hexadecimal(values.get("CapEff")))


def parse_id(text: str) -> OwnStatus | None:
    """What `id` prints: "uid=0(root) gid=0(root) groups=0(root),1000(HwHiAiUser)"."""
    uid = re.search(r"\buid=(\d{1,10})", text)
    groups = [int(number) for number in re.findall(r"(?:gid=|groups=|,)(\d{1,10})", text)]
    return OwnStatus(int(uid[1]), tuple(dict.fromkeys(groups)), None, "id") if uid else None


def parse_limits(text: str) -> dict[str, int | None]:
    """Soft limits of /proc/PID/limits."""
    return {name: whole(value) for name, value in _LIMIT.findall(text)}


def read_own(host: Host, facts: Facts) -> OwnStatus | Unavailable:
    path = OwnStatus(0).source
    text = host.read(path, 64 * KIB)
    if isinstance(text, Unavailable):
        told = text if host.live else host.run(("id",))
        found = None if isinstance(told, Unavailable) else parse_id(told.stdout)
        return found or _own_by_name(host) or text
    return parse_own(text) or Unavailable(path, Why.MISSING, "no Uid in it")


def _own_by_name(host: Host) -> OwnStatus | None:
    """Of a recording that tells only the user's name, in its environment."""
    environment, users, groups = host.environ(0), host.read("/etc/passwd", 64 * KIB), host.read("/etc/group", 64 * KIB)
    if host.live or isinstance(environment, Unavailable) or isinstance(users, Unavailable):
        return None
    name, home = environment.get("USER") or environment.get("LOGNAME"), environment.get("HOME")
    rows = [columns for line in users.splitlines() if name and len(columns := line.split(":")) > 5]
    # In a bundle the name is masked; where it is also a common word it is not masked everywhere, but the home folder is.
    row = next((row for key, at in ((name, 0), (home, 5)) for row in rows if row[at] == key), None)
    uid, gid = (whole(row[2]), whole(row[3])) if row else (None, None)
    if uid is None:
        return None
    listed = [row.split(":") for row in groups.splitlines()] if isinstance(groups, str) else []
    others = [number for group in listed if len(group) > 3 and row is not None and row[0] in group[3].split(",") and (number := whole(group[2])) is not None]
    return OwnStatus(uid, tuple(dict.fromkeys([*([gid] if gid is not None else []), *others])), None, "USER, /etc/passwd, /etc/group")


def read_nodes(host: Host, facts: Facts) -> NodeAccess | Unavailable:
    cards = host.list("/dev/davinci[0-9]*")
    if isinstance(cards, Unavailable):
        return cards
    nodes: list[Node] = []
    for path in (*cards[:MOST_PROCESSES], *MANAGERS):
        info = host.stat(path)
        if isinstance(info, Unavailable):
            continue
        if info.mode is None or info.uid is None or info.gid is None:
            return Unavailable(f"mode of {path}", Why.NOT_RECORDED)
        nodes.append(Node(path, info.mode & 0o777, info.uid, info.gid))
    return NodeAccess(tuple(nodes)) if nodes else Unavailable("/dev/davinci*", Why.MISSING, "no device node")


def read_servers(host: Host, facts: Facts) -> ServerProcesses | Unavailable:
    running = facts.get(VllmProcesses)
    if isinstance(running, Unavailable):
        return running
    processes = running.processes[:MOST_PROCESSES]
    first = {next((process.pid for process in processes if process.role == role), None) for role in ("api", "worker")}
    maps = {pid: host.read(f"/proc/{pid}/maps", MIB, tail=True) for pid in first if pid is not None}  # libraries stand near the end
    return ServerProcesses(tuple(_server(host, process, maps.get(process.pid)) for process in processes))


def _server(host: Host, process: VllmProcess, maps: str | Unavailable | None) -> ServerProcess:
    """`maps` is None for most: they are long, and the workers of one server differ little."""
    status, limits = (host.read(f"/proc/{process.pid}/{name}", 64 * KIB) for name in ("status", "limits"))
    values = parse_status(status) if isinstance(status, str) else {}
    return ServerProcess(
        process.pid,
        process.role,
        whole(values.get("VmSwap", "").partition(" ")[0]),
        whole(values.get("VmRSS", "").partition(" ")[0]),
        values.get("Cpus_allowed_list") or None,
        parse_limits(limits) if isinstance(limits, str) else {},
        bool(_ALLOCATOR.search(maps)) if isinstance(maps, str) and maps else None,
    )


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(OwnStatus, read_own),
    Provider(NodeAccess, read_nodes),
    Provider(ServerProcesses, read_servers),
)
