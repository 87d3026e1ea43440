"""Reads the services of a compose file into the shape of `docker run`. Pure; no text makes it raise.

All scalars are read as text: a loader that guesses types fails on dates and numbers that are none, and a port mapping "22:22" is no sexagesimal.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from doctor.facts.docker_run import device_path, volume
from doctor.facts.number import size
from doctor.facts.run_command import RunCommand

_LONGEST = 256 * 1024
"""Characters; a compose file has a few thousand."""


def parse_compose(text: str, source: str = "") -> tuple[RunCommand, ...]:
    """One command a service, in the file's order; () if the text is not a compose file."""
    document = _load(text[:_LONGEST])
    services = document.get("services", document) if isinstance(document, dict) else None
    if not isinstance(services, dict):
        return ()
    found: list[RunCommand] = []
    for name, raw in services.items():
        service = _merged(raw)
        if isinstance(name, str) and any(key in service for key in ("image", "build")):
            found.append(_service(service, source, _line_of(text, name)))
    return tuple(found)


def _load(text: str) -> object:
    import yaml

    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - builds only text, lists and mappings
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def _line_of(text: str, name: str) -> int:
    pattern = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*:")
    return next((number for number, line in enumerate(text.splitlines(), start=1) if pattern.match(line)), 0)


def _merged(raw: Any) -> dict[str, Any]:
    """The service with its merge keys (`<<: *defaults`) followed one level, the service's own keys winning."""
    if not isinstance(raw, dict):
        return {}
    merged: dict[str, Any] = {}
    bases = raw.get("<<")
    for base in bases if isinstance(bases, list) else [bases]:
        if isinstance(base, dict):
            merged = {**{key: value for key, value in base.items() if isinstance(key, str)}, **merged}
    return {**merged, **{key: value for key, value in raw.items() if isinstance(key, str) and key != "<<"}}


def _service(service: dict[str, Any], source: str, line: int) -> RunCommand:
    return RunCommand(
        image=_text(service.get("image")), devices=tuple(_devices(service.get("devices"))), volumes=tuple(_volumes(service.get("volumes"))),
        environment=dict(_environment(service.get("environment"))), privileged=(_text(service.get("privileged")) or "").lower() in ("true", "yes"),
        shm_size=size(_text(service.get("shm_size"))), network=_text(service.get("network_mode")), ipc=_text(service.get("ipc")),
        user=_text(service.get("user")), runtime=_text(service.get("runtime")), command=tuple(_command(service.get("command"))),
        source=source, line=line,
    )  # fmt: skip


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _devices(value: object) -> Iterator[str]:
    for item in _items(value):
        path = _text(item.get("source")) if isinstance(item, dict) else _text(item)
        if path:
            yield device_path(path)


def _volumes(value: object) -> Iterator[tuple[str, str]]:
    for item in _items(value):
        if isinstance(item, str) and item:
            yield volume(item)
        elif isinstance(item, dict) and (target := _text(item.get("target"))):
            yield _text(item.get("source")) or "", target


def _environment(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield from ((key, text) for key, text in value.items() if isinstance(key, str) and isinstance(text, str) and key != "<<")
    for item in _items(value):
        if isinstance(item, str) and "=" in item:
            key, _, text = item.partition("=")
            yield key, text


def _command(value: object) -> list[str]:
    if isinstance(value, str):
        try:
            return shlex.split(value)
        except ValueError:
            return value.split()
    return [item for item in _items(value) if isinstance(item, str)]
