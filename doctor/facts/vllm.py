"""vLLM processes and command lines: what is running, or what a text shows was run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServeCommand:
    """One `vllm serve` (or api_server, or LLM(...)) command. `flags`: long name without dashes, `_` as `-` -> value, "" for a bare flag."""

    argv: tuple[str, ...]
    model: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    keywords: Mapping[str, str] = field(default_factory=dict)
    """Arguments of an LLM(…) or EngineArgs(…) call in Python."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set on the same command line."""
    pid: int | None = None
    source: str = ""
    line: int = 0


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
