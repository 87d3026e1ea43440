"""Which processes belong to a server, and what each of them is. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from doctor.facts.vllm import vllm_processes
from doctor.host import Process

ROLES = ("api", "engine", "worker", "mooncake", "proxy", "other")

_MOONCAKE = re.compile(r"mooncake[\w.-]{0,40}", re.IGNORECASE)
_PROXY = re.compile(r"(?:[\w.-]{0,40}_)?(?:load_balance_proxy|proxy_server|toy_proxy|disagg_proxy|vllm-router|api_?gateway)[\w.-]{0,40}", re.IGNORECASE)
MOST_ABOVE = 64
"""Generations that are followed upwards."""
MOST = 512
"""Processes followed at the most; the largest server has 64 ranks and a few more."""


@dataclass(frozen=True)
class Member:
    """One process that is followed."""

    pid: int
    ppid: int
    role: str
    label: str
    argv: tuple[str, ...] = ()
    server: int = 0
    """The process of the server that it belongs to: the API server at the top of its tree; 0: to none that can be told, as a proxy or an actor of Ray."""


def members(processes: Sequence[Process], pids: Sequence[int] = (), own: int = 0) -> tuple[Member, ...]:
    """The processes to follow: those named with all their descendants, or, where none is named, every vLLM, Mooncake and proxy. Never our own."""
    roles = {process.pid: process.role for process in vllm_processes(processes)}
    for process in processes:
        if process.pid not in roles and (role := _beside(process)) is not None:
            roles[process.pid] = role
    for pid in {process.ppid for process in processes if roles.get(process.pid) == "engine"}:
        # However the server was started (`python -c …`, a script of its own): whoever has an engine core below it serves.
        if roles.get(pid, "other") == "other" and any(process.pid == pid and process.pid > 1 and process.argv for process in processes):
            roles[pid] = "api"
    if pids:
        wanted = _descendants(processes, set(pids))
        found = [process for process in processes if process.pid in wanted]
    else:
        found = [process for process in processes if process.pid in roles]
    mine = _descendants(processes, {own}) if own else set()
    parents = {process.pid: process.ppid for process in processes}
    return tuple(
        Member(p.pid, p.ppid, roles.get(p.pid, "other"), _label(p), p.argv, _server(p.pid, parents, roles)) for p in found if p.pid not in mine and p.state != "Z"
    )[:MOST]


def _server(pid: int, parents: Mapping[int, int], roles: Mapping[int, str]) -> int:
    """The topmost API server above a process (itself included); 0 where there is none, as above an actor of Ray."""
    above: list[int] = []
    while pid in parents and pid not in above and len(above) < MOST_ABOVE:
        above.append(pid)
        pid = parents[pid]
    return next((each for each in reversed(above) if roles.get(each) == "api"), 0)


def _beside(process: Process) -> str | None:
    """Mooncake and proxies stand beside vLLM; they are known by their program or script."""
    words = [posixpath.basename(word) for word in (process.argv[:4] or (process.name,))]
    if any(_MOONCAKE.fullmatch(word) for word in words):
        return "mooncake"
    return "proxy" if any(_PROXY.fullmatch(word) for word in words) else None


def _descendants(processes: Sequence[Process], roots: set[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for process in processes:
        children.setdefault(process.ppid, []).append(process.pid)
    found: set[int] = set()
    todo = list(roots)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo += children.get(pid, ())
    return found


def _label(process: Process) -> str:
    """What the process calls itself (`VLLM::Worker_TP1`), else its program, with the script where it is an interpreter."""
    title = process.argv[0].strip() if process.argv else process.name
    if "::" in title:
        return title[:60]
    program = posixpath.basename(title) or process.name
    if not program.startswith("python"):
        return program[:60]
    first = next((word for word in process.argv[1:4] if word not in ("-B", "-u", "-I", "-s", "-E")), "")
    script = "-c" if first == "-c" else posixpath.basename(process.argv[process.argv.index("-m") + 1]) if first == "-m" and process.argv[-1] != "-m" else posixpath.basename(first)
    return f"{program} {script}".strip()[:60]


def zombies(processes: Sequence[Process], of: Sequence[Member]) -> dict[int, int]:
    """How many dead, unreaped children each followed process has; those of vLLM whose parent is another count for pid 0."""
    pids = {member.pid for member in of}
    found: dict[int, int] = {}
    for process in processes:
        if process.state == "Z" and (process.ppid in pids or re.match(r"VLLM|EngineCore|Worker", process.name)):
            owner = process.ppid if process.ppid in pids else 0
            found[owner] = found.get(owner, 0) + 1
    return found


__all__ = ["Member", "ROLES", "members", "zombies"]
