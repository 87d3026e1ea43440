"""Reads `docker inspect` (podman, nerdctl) of containers into the shape of `docker run`. Pure; no text makes it raise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from doctor.facts.docker_run import volume
from doctor.facts.run_command import RunCommand

LONGEST = 1024 * 1024
MOST = 50


def parse_inspect(text: str, source: str = "") -> tuple[RunCommand, ...]:
    """One start a container of the JSON; () for anything else."""
    try:
        told = json.loads(text[:LONGEST])
    except (ValueError, RecursionError):
        return ()
    containers = told if isinstance(told, list) else [told]
    return tuple(_start(one, source) for one in containers[:MOST] if isinstance(one, dict) and isinstance(one.get("Config"), dict))


def parse_names(text: str) -> tuple[str, ...]:
    """Ids and names of the containers in the table of `docker ps`."""
    rows = [line.split() for line in text.splitlines()[1 : MOST + 1]]
    return tuple(word for row in rows if len(row) > 2 for word in (row[-1], row[0]) if re.fullmatch(r"[\w.-]{1,80}", word))


def _start(container: dict[str, Any], source: str) -> RunCommand:
    config, host = container["Config"], container.get("HostConfig")
    host = host if isinstance(host, dict) else {}
    pairs = (item.partition("=") for item in _texts(config.get("Env")))
    devices = host.get("Devices")
    size = host.get("ShmSize")
    return RunCommand(
        image=_text(config.get("Image")),
        devices=tuple(path for one in (devices if isinstance(devices, list) else []) if isinstance(one, dict) and (path := _text(one.get("PathOnHost")))),
        volumes=tuple(_volumes(container, host)),
        environment={name: value for name, equals, value in pairs if equals},
        privileged=host.get("Privileged") is True,
        shm_size=size if isinstance(size, int) and size > 0 else None,
        network=_text(host.get("NetworkMode")),
        ipc=_text(host.get("IpcMode")),
        user=_text(config.get("User")),
        runtime=_text(host.get("Runtime")),
        command=(*_words(config.get("Entrypoint")), *_words(config.get("Cmd"))),
        source=source,
    )


def _volumes(container: dict[str, Any], host: dict[str, Any]) -> Iterator[tuple[str, str]]:
    binds = [volume(text) for text in _texts(host.get("Binds"))]
    yield from binds
    mounts = container.get("Mounts")
    for mount in mounts if isinstance(mounts, list) else []:
        if isinstance(mount, dict) and (target := _text(mount.get("Destination"))) and all(target != to for _, to in binds):
            yield _text(mount.get("Source")) or "", target


def _words(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value else tuple(_texts(value))


def _texts(value: object) -> Iterator[str]:
    return (item for item in value if isinstance(item, str)) if isinstance(value, list) else iter(())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
