"""Processes that a dead server left behind: which they are, whose, how old, and whether they may be ended from here. Reads through the `Host`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from doctor.apply.endchange import EndChange, ticks_and_state
from doctor.apply.kind import Context
from doctor.apply.users import in_other_container
from doctor.facts.npu import Npus
from doctor.facts.vllm import known_roles
from doctor.host import KIB, Process, Unavailable
from doctor.text import clean_line
from doctor.words import Words

INIT = 1


@dataclass(frozen=True)
class Candidate:
    """A process that could be ended. `age` in seconds, None where it is not known."""

    process: Process
    why: Words
    age: float | None

    @property
    def named(self) -> str:
        process = self.process
        return f"{process.pid} ({shown(process)}, uid {process.uid if process.uid is not None else '?'}, {duration(self.age)})"


def shown(process: Process) -> str:
    return clean_line(" ".join(process.argv) or process.name)[:80]


def duration(seconds: float | None) -> str:
    """"3 d 4 h", "12 min", "40 s"; "?" where it is not known."""
    if seconds is None:
        return "?"
    for size, unit, smaller, part in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} {int(seconds % size // smaller)} {part}"
    return f"{int(seconds // 60)} min" if seconds >= 60 else f"{max(int(seconds), 0)} s"


def everyone(context: Context) -> dict[int, Process]:
    found = context.host.processes()
    return {} if isinstance(found, Unavailable) else {process.pid: process for process in found}


def orphans(context: Context, processes: Mapping[int, Process]) -> list[Candidate]:
    """Engines without their server, each before its own children; () where a server runs that may own them."""
    roles = {pid: known_roles(process.name, process.argv) for pid, process in processes.items()}
    if any(role == "api" for role in roles.values()):
        return []
    heads = [process for pid, process in processes.items() if roles[pid] in ("engine", "worker") and process.ppid == INIT]
    why = Words("its server is gone", "所属的服务进程已不存在")
    return _with_children(context, heads, processes, why)


def holders(context: Context, processes: Mapping[int, Process]) -> list[Candidate]:
    """Processes that hold NPU memory without a parent; for a zombie its parent, which alone can make it go away."""
    npus = context.fact(Npus)
    held = {item.pid: item.memory_mb for item in npus.processes} if npus else {}
    heads: list[Process] = []
    for pid, process in processes.items():
        if process.state == "Z" and (pid in held or known_roles(process.name, process.argv) is not None):
            parent = processes.get(process.ppid)
            if parent is not None and parent.pid > INIT and parent not in heads:
                heads.append(parent)
        elif pid in held and process.ppid == INIT and known_roles(process.name, process.argv) != "api":
            heads.append(process)
    return _with_children(context, heads, processes, Words("holds NPU memory, or does not reap what does", "占用 NPU 显存，或未回收占用显存的子进程"))


def listeners(context: Context, processes: Mapping[int, Process], port: int) -> list[Candidate]:
    """Who listens on the port."""
    found = context.host.listening()
    pids = [] if isinstance(found, Unavailable) else [one.pid for one in found if one.port == port and one.pid is not None]
    heads = [processes[pid] for pid in dict.fromkeys(pids) if pid in processes]
    return _with_children(context, heads, processes, Words(f"listens on port {port}", f"监听端口 {port}"))


def named(context: Context, processes: Mapping[int, Process]) -> list[Candidate]:
    heads = [processes[pid] for pid in context.choices.pids if pid in processes]
    return _with_children(context, heads, processes, Words("named with --pid", "由 --pid 指定"))


def _with_children(context: Context, heads: Sequence[Process], processes: Mapping[int, Process], why: Words) -> list[Candidate]:
    """Each process and then those below it: a parent that is asked first ends its children in order."""
    now = context.host.now().timestamp()
    found: dict[int, Candidate] = {}
    for head in heads:
        for process in _tree(head, processes):
            if process.state != "Z" and process.pid > INIT:
                found.setdefault(process.pid, Candidate(process, why, None if process.started is None else now - process.started))
    return list(found.values())


def _tree(head: Process, processes: Mapping[int, Process]) -> Iterator[Process]:
    yield head
    waiting, seen = [head.pid], {head.pid}
    while waiting:
        above = waiting.pop(0)
        for pid, process in sorted(processes.items()):
            if process.ppid == above and pid not in seen:
                seen.add(pid)
                waiting.append(pid)
                yield process


def refused(context: Context, candidate: Candidate) -> Words | None:
    """Why the process is not ended from here, None where it may be."""
    process, told = candidate.process, candidate.named
    if process.pid in _own(context):
        return Words(f"{told} is what doctor itself runs in", f"{told} 是 doctor 自身所在的进程")
    allowed = context.euid == 0 and process.pid in context.choices.pids
    name = f"--pid {process.pid}"
    if in_other_container(context.host, process.pid) and not allowed:
        return Words(f"{told} belongs to another container; as root, name it with {name}", f"{told} 属于其他容器；须以 root 用 {name} 指明")
    if process.uid is None or process.uid != context.euid and not allowed:
        return Words(f"{told} belongs to another user; as root, name it with {name}", f"{told} 属于其他用户；须以 root 用 {name} 指明")
    if known_roles(process.name, process.argv) == "api" and process.pid not in context.choices.pids:
        return Words(f"{told} is a running server; name it with {name} if it is to be ended", f"{told} 是正在运行的服务；确需结束请用 {name} 指明")
    return None


def _own(context: Context) -> set[int]:
    """Doctor's own process and everything above it."""
    text = context.host.read("/proc/self/stat", 4 * KIB)
    first = text.partition(" ")[0] if isinstance(text, str) else ""
    processes, found = everyone(context), set[int]()
    pid = int(first) if first.isascii() and first.isdecimal() else 0
    while pid > INIT and pid not in found:
        found.add(pid)
        pid = processes[pid].ppid if pid in processes else 0
    return found


def change_for(context: Context, process: Process) -> EndChange | None:
    """The change that ends it; None where it is gone already."""
    stat = context.host.read(f"/proc/{process.pid}/stat", 4 * KIB)
    found = ticks_and_state(stat) if isinstance(stat, str) else None
    if found is None:
        return None
    return EndChange(process.pid, found[0], process.uid if process.uid is not None else -1, shown(process), process.argv[:100])


__all__ = ["Candidate", "change_for", "duration", "everyone", "holders", "listeners", "named", "orphans", "refused", "shown"]
