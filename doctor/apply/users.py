"""Who uses a thing that would be changed: the running servers of a Python environment or of the NPUs. Reads only through the `Host`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from doctor.apply.kind import Context
from doctor.facts.vllm import VllmProcess, VllmProcesses
from doctor.host import KIB, Unavailable
from doctor.text import clean_line

NAME_LIMIT = 80


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
    return Server(process.pid, clean_line(" ".join(process.argv) or process.role)[:NAME_LIMIT])


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


__all__ = ["Server", "servers", "servers_of"]
