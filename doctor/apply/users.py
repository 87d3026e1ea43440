"""Who uses a thing that would be changed: the running servers of a Python environment or of the NPUs. Reads only through the `Host`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from doctor.apply.kind import Context
from doctor.apply.plan import Note
from doctor.facts.container import parse_cgroup_kind
from doctor.facts.target import Target
from doctor.facts.vllm import VllmProcess, VllmProcesses
from doctor.host import KIB, Host, Unavailable
from doctor.text import clean_line
from doctor.words import Words

NAME_LIMIT = 80
_SPACES = re.compile(r"^NSpid:((?:\s+\d{1,10})+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Server:
    """One process of a running vLLM. `name` is what people know it by."""

    pid: int
    name: str


def servers(context: Context) -> tuple[Server, ...]:
    """Every vLLM process of this machine, API servers first."""
    found = context.fact(VllmProcesses)
    return tuple(_server(one) for one in _ordered(found))


def servers_of(context: Context, prefix: str) -> tuple[Server, ...]:
    """Those that run in the Python environment at `prefix`."""
    return tuple(_server(one) for one in _ordered(context.fact(VllmProcesses)) if _uses(context, one, prefix.rstrip("/")))


def _ordered(found: VllmProcesses | None) -> list[VllmProcess]:
    return sorted(found.processes, key=lambda one: (one.role != "api", one.pid)) if found else []


def _server(process: VllmProcess) -> Server:
    # /opt/v/bin/python3 /opt/v/bin/vllm serve /models/Qwen: the folders of programs tell nothing.
    words = [posixpath.basename(word) or word if number < 2 and word.startswith("/") else word for number, word in enumerate(process.argv)]
    return Server(process.pid, clean_line(" ".join(words) or process.role)[:NAME_LIMIT])


def _uses(context: Context, process: VllmProcess, prefix: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for path in _paths(context, process))


def _paths(context: Context, process: VllmProcess) -> Iterator[str]:
    yield from process.argv[:2]
    yield process.exe
    environment = context.host.environ(process.pid)
    if not isinstance(environment, Unavailable):
        yield environment.get("VIRTUAL_ENV", "")
    maps = context.host.read(f"/proc/{process.pid}/maps", 256 * KIB)
    if isinstance(maps, str):
        yield from dict.fromkeys(re.findall(r" (/\S{1,500})$", maps, re.MULTILINE))


def elsewhere(context: Context, target: Target) -> Words | None:
    """That the target runs in another container: its paths are those of there, and what is changed has to be changed there."""
    if target.pid is None or not in_other_container(context.host, target.pid):
        return None
    return Words(
        f"the target is process {target.pid} of another container; run doctor inside that container", f"目标是另一个容器中的进程 {target.pid}；请在该容器内运行 doctor"
    )


def in_other_container(host: Host, pid: int) -> bool:
    """A process with a number of its own further in, or in another container's control group."""
    status = host.read(f"/proc/{pid}/status", 64 * KIB)
    spaces = _SPACES.search(status) if isinstance(status, str) else None
    if spaces is not None and len(spaces[1].split()) > 1:
        return True
    theirs, ours = (host.read(f"/proc/{one}/cgroup", 64 * KIB) for one in (str(pid), "self"))
    if not isinstance(theirs, str) or not isinstance(ours, str):
        return False
    return parse_cgroup_kind(theirs) != "" and theirs != ours


def lost_with_container(context: Context) -> tuple[Note, ...]:
    """What is changed inside a container goes with it."""
    if not context.contained:
        return ()
    return (Note(Words("inside a container: a new container of the same image does not have it", "在容器内：用同一镜像新建的容器不会包含此更改")),)


__all__ = ["Server", "elsewhere", "in_other_container", "lost_with_container", "servers", "servers_of"]
