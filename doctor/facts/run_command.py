"""The fact of one container start; import it from `container`. The parsers stand in `docker_run.py` and `compose.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from doctor.record import dataclass


@dataclass(frozen=True)
class RunCommand:
    """One `docker run`/`podman run`/`nerdctl run` command, or a compose service or Kubernetes container read into the same shape."""

    image: str | None
    devices: tuple[str, ...] = ()
    volumes: tuple[tuple[str, str], ...] = ()
    """(source, destination)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    privileged: bool = False
    shm_size: int | None = None
    """Bytes."""
    network: str | None = None
    ipc: str | None = None
    user: str | None = None
    runtime: str | None = None
    command: tuple[str, ...] = ()
    source: str = ""
    line: int = 0
    orchestrator: str = ""
    """"kubernetes" where an orchestrator starts it: cards and driver then come from its device plugin, not from the command."""
