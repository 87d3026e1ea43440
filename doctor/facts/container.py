"""Whether we are inside a container, how it was started, and container files that a user keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Container:
    """`kind`: "" on bare metal, "docker", "podman", "containerd", "kubernetes", "container". `mounts`: mount points from /proc/self/mountinfo, None if unknown."""

    kind: str
    mounts: tuple[str, ...] | None = None
    source: str = ""

    @property
    def inside(self) -> bool:
        return self.kind != ""


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


@dataclass(frozen=True)
class RunCommands:
    """Container starts found in a text, in scripts or in compose files."""

    commands: tuple[RunCommand, ...]
    source: str = ""
