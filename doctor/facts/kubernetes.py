"""Container starts in Kubernetes objects, whatever kind holds them: pods, deployments, lists, leader-worker sets, Ray clusters. Pure; never raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doctor.facts.run_command import RunCommand
from doctor.regex import regex

LONGEST = 256 * 1024
"""Characters of one manifest that are read."""

DEEPEST = 60
MOST = 200
"""Containers of one text."""

HOLDERS = ("containers", "initContainers")
_REFERENCE = regex(r"\$\((\w{1,100})\)", re.ASCII)
_SIZE = regex(r"(\d{1,12})(Ki|Mi|Gi|Ti|k|M|G|T)?", re.ASCII)
_FACTORS = {None: 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_kubernetes(text: str, source: str = "", line: int = 0) -> tuple[RunCommand, ...]:
    """The containers of all documents in a text that are Kubernetes objects; () for anything else. `line` is that of the text's first line."""
    import yaml

    if not re.search(r"^\s{0,40}(?:apiVersion|kind)\s*:", text[:LONGEST], re.MULTILINE):
        return ()
    found: list[RunCommand] = []
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        for document in yaml.load_all(text[:LONGEST], Loader=loader):
            if isinstance(document, dict) and "kind" in document:
                found += [container_start(container, pod, source, _line(text, container, line)) for container, pod in _containers(document, 0)]
    except (yaml.YAMLError, RecursionError, ValueError, AttributeError):
        pass  # what came before the error is kept: a template's braces often stand further down
    return tuple(found[:MOST])


def _containers(value: Any, depth: int) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """(container, the pod's specification that holds it) of every container below."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _containers(item, depth + 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in HOLDERS and isinstance(inner, list):
                yield from ((item, value) for item in inner if isinstance(item, dict))
            else:
                yield from _containers(inner, depth + 1)


def _line(text: str, container: Mapping[str, Any], first: int) -> int:
    name = container.get("name")
    at = re.search(rf"name:\s*[\"']?{re.escape(name)}[\"']?\s*$", text, re.MULTILINE) if isinstance(name, str) and name else None
    return first + text.count("\n", 0, at.start()) if at and first else first


def container_start(container: Mapping[str, Any], pod: Mapping[str, Any], source: str = "", line: int = 0) -> RunCommand:
    """One container in the shape of a container start. Its cards come from the device plugin, so that it lists no device nodes."""
    environment = dict(_environment(container.get("env")))
    context, around = _mapping(container.get("securityContext")), _mapping(pod.get("securityContext"))
    words = (*_words(container.get("command")), *_words(container.get("args")))
    return RunCommand(
        image=_text(container.get("image")),
        volumes=tuple(_volumes(container, pod)),
        environment=environment,
        privileged=_text(context.get("privileged")) == "true",
        shm_size=_shared_memory(container, pod),
        network="host" if _text(pod.get("hostNetwork")) == "true" else "pod",
        ipc="host" if _text(pod.get("hostIPC")) == "true" else None,
        user=_text(context.get("runAsUser")) or _text(around.get("runAsUser")),
        command=tuple(expanded(word, environment) for word in words),
        source=source,
        line=line,
        orchestrator="kubernetes",
    )


def expanded(word: str, environment: Mapping[str, str]) -> str:
    """With `$(NAME)` filled in where the container's own variables tell it, as the kubelet does."""
    return _REFERENCE.sub(lambda found: environment.get(found[1], found[0]), word)


def _environment(listed: Any) -> Iterator[tuple[str, str]]:
    for item in _items(listed):
        entry = _mapping(item)
        if isinstance(entry.get("name"), str):
            yield entry["name"], entry["value"] if isinstance(entry.get("value"), str) else "<valueFrom>"


def _volumes(container: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    sources = {name: _text(_mapping(held.get("hostPath")).get("path")) or "" for name, held in _named_volumes(pod)}
    for item in _items(container.get("volumeMounts")):
        mount = _mapping(item)
        if isinstance(mount.get("mountPath"), str):
            yield sources.get(str(mount.get("name")), ""), mount["mountPath"]


def _named_volumes(pod: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for item in _items(pod.get("volumes")):
        held = _mapping(item)
        if isinstance(held.get("name"), str):
            yield held["name"], held


def _shared_memory(container: Mapping[str, Any], pod: Mapping[str, Any]) -> int | None:
    """Bytes of the memory volume at /dev/shm; None where there is none with a limit."""
    volumes = dict(_named_volumes(pod))
    for item in _items(container.get("volumeMounts")):
        mount = _mapping(item)
        if _text(mount.get("mountPath")) in ("/dev/shm", "/dev/shm/"):
            limit = _text(_mapping(volumes.get(str(mount.get("name")), {}).get("emptyDir")).get("sizeLimit"))
            told = _SIZE.fullmatch(limit) if limit else None
            return int(told[1]) * _FACTORS[told[2]] if told else None
    return None


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(item for item in _items(value) if isinstance(item, str))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
