"""Whether we are inside a container, how it was started, and container files that a user keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.compose import parse_compose
from doctor.facts.docker_run import parse_docker_run, parse_docker_runs
from doctor.facts.run_command import RunCommand
from doctor.host import KIB, Host, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex

__all__ = [
    "Container", "PROVIDERS", "RunCommand", "RunCommands", "parse_cgroup_kind", "parse_compose", "parse_docker_run", "parse_docker_runs",
    "parse_mount_points", "parse_root_kind",
]  # fmt: skip


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
class RunCommands:
    """Container starts found in a text, in scripts or in compose files."""

    commands: tuple[RunCommand, ...]
    source: str = ""


_GROUPS = (
    ("kubernetes", r"kubepods"), ("podman", r"libpod|/podman-"), ("docker", r"/docker[/-]|/docker$|docker/containers"),
    ("containerd", r"containerd|/cri-"), ("container", r"isulad|/lxc[./]|/lxc$|\.lxc|nspawn"),
)  # fmt: skip
"""Marks in /proc/1/cgroup and in the layers of an overlay root, most telling first."""

_ENGINE_FOLDERS = (
    ("podman", "/containers/storage/"), ("docker", "/docker/"), ("containerd", "containerd"), ("container", "isulad"),
)  # fmt: skip


def parse_mount_points(text: str) -> tuple[str, ...]:
    """Mount points of /proc/self/mountinfo, its octal escapes undone."""
    rows = (line.split(" ") for line in text.splitlines())
    return tuple(_unescape(row[4]) for row in rows if len(row) > 4 and row[4].startswith("/"))


def _unescape(path: str) -> str:
    return re.sub(r"\\([0-3][0-7][0-7])", lambda match: chr(int(match[1], 8)), path)


def parse_cgroup_kind(text: str) -> str:
    """Kind of container that /proc/1/cgroup tells, "" if none; a container with its own cgroup name space shows none."""
    return next((kind for kind, pattern in _GROUPS if re.search(pattern, text, re.MULTILINE)), "")


def parse_root_kind(text: str) -> str:
    """Kind of container by the root file system in /proc/self/mountinfo: an overlay is one, its layers name the engine."""
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        row = before.split(" ")
        if dash and len(row) > 4 and row[4] == "/" and after.startswith(("overlay ", "fuse-overlayfs ", "fuse.fuse-overlayfs ")):
            return next((kind for kind, folder in _ENGINE_FOLDERS if folder in after), "container")
    return ""


def read_container(host: Host, facts: Facts) -> Container | Unavailable:
    docker, podman = host.stat("/.dockerenv"), host.stat("/run/.containerenv")
    if isinstance(docker, Unavailable) and docker.why is Why.NOT_RECORDED:
        return docker
    mountinfo = known(host.read("/proc/self/mountinfo"))
    environment = known(host.environ(0)) or {}
    cgroup = parse_cgroup_kind(known(host.read("/proc/1/cgroup", 64 * KIB)) or "")
    root = parse_root_kind(mountinfo or "")
    traces = (
        ("kubernetes", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_HOST" in environment),
        ("kubernetes", "/proc/1/cgroup", cgroup == "kubernetes"),
        ("podman", "/run/.containerenv", not isinstance(podman, Unavailable)),
        ("docker", "/.dockerenv", not isinstance(docker, Unavailable)),
        (cgroup, "/proc/1/cgroup", bool(cgroup)),
        (root, "/proc/self/mountinfo", bool(root)),
        ("container", "environment variable container", bool(environment.get("container"))),
    )
    kind, source = next(((kind, source) for kind, source, there in traces if there), ("", "/.dockerenv, /proc/1/cgroup, /proc/self/mountinfo"))
    return Container(kind, None if mountinfo is None else parse_mount_points(mountinfo), source)


_MOST_FILES = 20
_FILE_LIMIT = 64 * KIB
_PATTERNS = ("docker-compose*.y*ml", "compose*.y*ml", "*.sh")
_COMMENT = regex(r"^[ \t]*#.*$", re.MULTILINE)
_PLAIN_PATH = regex(r"(?:/[\w.@+-]+){1,16}", re.ASCII)


def _candidates(host: Host) -> Iterator[str | Unavailable]:
    folders = ["/root", "/home/*"]
    here = (known(host.environ(0)) or {}).get("PWD", "")
    if _PLAIN_PATH.fullmatch(here) and ".." not in here.split("/"):
        folders.insert(0, here)
    for folder in dict.fromkeys(folders):
        for pattern in _PATTERNS:
            paths = host.list(f"{folder}/{pattern}")
            if isinstance(paths, Unavailable):
                yield paths
            else:
                yield from paths


def read_run_commands(host: Host, facts: Facts) -> RunCommands | Unavailable:
    """From compose files and shell scripts in the working folder, /root and the homes; at most 20 files of 64 KiB."""
    commands: list[RunCommand] = []
    candidates = list(dict.fromkeys(_candidates(host)))
    files = [path for path in candidates if isinstance(path, str)][:_MOST_FILES]
    if not files and any(isinstance(path, Unavailable) and path.why is Why.NOT_RECORDED for path in candidates):
        return next(path for path in candidates if isinstance(path, Unavailable))
    for path in files:
        text = host.read(path, _FILE_LIMIT)
        if isinstance(text, str):
            commands += parse_docker_runs(_COMMENT.sub("", text), path) if path.endswith(".sh") else parse_compose(text, path)
    return RunCommands(tuple(commands), ", ".join(dict.fromkeys(command.source for command in commands)) or "/root, /home")


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Container, read_container),
    Provider(RunCommands, read_run_commands),
)
