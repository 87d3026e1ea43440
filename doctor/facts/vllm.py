"""vLLM processes and command lines: what is running, or what a text shows was run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.launches import with_config, written_commands
from doctor.facts.serve_text import ServeCommand, find_commands, first_argument, parse_command, parse_python_call
from doctor.host import Host, Process, Unavailable
from doctor.record import dataclass
from doctor.regex import regex

__all__ = [
    "PROVIDERS", "ServeCommand", "ServeCommands", "VllmProcess", "VllmProcesses",
    "find_commands", "known_roles", "parse_command", "parse_python_call", "vllm_processes",
]  # fmt: skip


@dataclass(frozen=True)
class ServeCommands:
    """Every vLLM command that is running or that was found in scripts or a text."""

    commands: tuple[ServeCommand, ...]
    source: str = ""


@dataclass(frozen=True)
class VllmProcess:
    """One process of a running vLLM. `role`: api, engine, worker, other."""

    pid: int
    ppid: int
    role: str
    argv: tuple[str, ...]
    exe: str = ""


@dataclass(frozen=True)
class VllmProcesses:
    """All vLLM processes; empty if none runs."""

    processes: tuple[VllmProcess, ...]
    source: str = "/proc"


_ENGINE = regex(r"(?:vllm::?)?engine_?cor(?:e(?:proc)?)?(?:_?(?:dp)?\d+)?", re.IGNORECASE)
_WORKER = regex(r"vllm(?:::?|_)?worker.*|(?:worker(?:_(?:tp|pp|dp|ep|dcp|pcp)\d*)+)", re.IGNORECASE)
_API = regex(r"(?:vllm::?)?api_?serve(?:r(?:_?\d+)?)?", re.IGNORECASE)
_PYTHON = regex(r"(?:python|pypy)[\d.]*")


def known_roles(name: str, argv: Sequence[str]) -> str | None:
    """Role of a process by its name and arguments: "api", "engine", "worker", "other"; None if it is not vLLM's.

    Engine cores and workers rename themselves (`VLLM::EngineCore_DP0`, `VLLM::Worker_TP1`); the kernel keeps 15 characters of a name.
    """
    title = (argv[0] if argv else name).strip()
    for text in (title, name.strip()):
        for pattern, role in ((_ENGINE, "engine"), (_WORKER, "worker"), (_API, "api")):
            if pattern.fullmatch(text):
                return role
        if text.lower().startswith("vllm::"):
            return "other"
    program = posixpath.basename(title)
    if program != "vllm" and not _PYTHON.fullmatch(program):
        return None  # `docker run … vllm serve` is a client, `bash -c "vllm serve …"` a parent
    if first_argument(argv) is not None:
        return "api"
    return "other" if any(posixpath.basename(word) == "vllm" for word in argv[:3]) else None


def _is_child(process: Process, roles: Mapping[int, str]) -> bool:
    return process.ppid in roles and bool(process.argv) and bool(_PYTHON.fullmatch(posixpath.basename(process.argv[0])))


def _read_processes(host: Host, facts: Facts) -> VllmProcesses | Unavailable:
    processes = host.processes()
    return processes if isinstance(processes, Unavailable) else VllmProcesses(vllm_processes(processes))


def vllm_processes(processes: Sequence[Process]) -> tuple[VllmProcess, ...]:
    """vLLM's processes among all, with their roles; Python children of one (spawned, not yet renamed) are "other"."""
    roles = {process.pid: role for process in processes if (role := known_roles(process.name, process.argv)) is not None}
    children = {process.pid: "other" for process in processes if process.pid not in roles and _is_child(process, roles)}
    roles.update(children)
    return tuple(VllmProcess(p.pid, p.ppid, roles[p.pid], p.argv, p.exe) for p in processes if p.pid in roles)


def _read_commands(host: Host, facts: Facts) -> ServeCommands | Unavailable:
    processes = facts.get(VllmProcesses)
    running: list[ServeCommand] = []
    if not isinstance(processes, Unavailable):
        for process in processes.processes:
            command = parse_command(process.argv, f"process {process.pid}", pid=process.pid) if process.role == "api" else None
            running += [with_config(host, command)] if command is not None else []
    found = (*running, *written_commands(host, facts))
    if not found and isinstance(processes, Unavailable):
        return processes
    return ServeCommands(found, source=found[0].source if found else "/proc")


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(VllmProcesses, _read_processes),
    Provider(ServeCommands, _read_commands),
)
