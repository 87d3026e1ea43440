"""Whether we are inside a container, how it was started, and container files that a user keeps."""

from __future__ import annotations

import re
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.compose import parse_compose
from doctor.facts.docker_inspect import parse_inspect, parse_names
from doctor.facts.docker_run import parse_docker_run, parse_docker_runs
from doctor.facts.kubernetes import parse_kubernetes
from doctor.facts.run_command import RunCommand
from doctor.facts.start_files import launch_files
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


_COMMENT = regex(r"^[ \t]*#.*$", re.MULTILINE)
_EXEC = regex(r"^Exec(?:Start|StartPre)=[-@:+!|]{0,4}", re.MULTILINE)


def read_run_commands(host: Host, facts: Facts) -> RunCommands | Unavailable:
    """From the files that start vLLM, and from what a recording holds of `docker inspect`."""
    here = (known(host.environ(0)) or {}).get("PWD", "")
    listed = host.list("/root/*.sh")
    files = launch_files(host, here)
    commands = [start for path, text in files for start in _starts(path, text)]
    if not host.live:  # a check of a running machine asks no daemon
        commands += _inspected(host)
    if not files and not commands and isinstance(listed, Unavailable) and listed.why is Why.NOT_RECORDED:
        return listed
    return RunCommands(tuple(commands), ", ".join(dict.fromkeys(command.source for command in commands)) or "/root, /home")


def _starts(path: str, text: str) -> tuple[RunCommand, ...]:
    if path.endswith((".yaml", ".yml")):
        return parse_kubernetes(text, path) or parse_compose(text, path)
    return () if path.endswith(".py") else parse_docker_runs(_EXEC.sub("", _COMMENT.sub("", text)), path)


def _inspected(host: Host) -> list[RunCommand]:
    found: list[RunCommand] = []
    for tool in ("docker", "podman", "nerdctl"):
        listings = (host.run((tool, "ps", *more)) for more in ((), ("-a",), ("--all",)))
        names = dict.fromkeys(name for listing in listings if not isinstance(listing, Unavailable) for name in parse_names(listing.stdout))
        for name in names:
            told = host.run((tool, "inspect", name))
            found += () if isinstance(told, Unavailable) else parse_inspect(told.stdout, f"{tool} inspect {name}")
    return found


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Container, read_container),
    Provider(RunCommands, read_run_commands),
)
