"""Where the processes of a running vLLM write their log: files, the journal of their unit, the log of their container, CANN's own folder.

Contract: looks only at links, control groups and environments; reads no log. What cannot be opened is listed with the reason, not left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.vllm import VllmProcess
from doctor.host import KIB, FileInfo, Host, Kind, Unavailable
from doctor.record import dataclass
from doctor.regex import regex

FILE, JOURNAL, CONTAINER, PLOG, NOWHERE = "file", "journal", "container", "plog", "nowhere"

JOURNAL_LINES = 50_000
"""Lines asked of a unit's journal: days of a server, and no more than a command's output may be long."""

MOST = 32

_UNIT = regex(r"/([A-Za-z0-9:_.\\@-]{1,200}\.service)(?:/|$)", re.MULTILINE)
_CONTAINER = regex(r"(?:docker[-/]|/docker/containers/|libpod-|cri-containerd[-:]|crio-|/)([0-9a-f]{64})(?:\.scope)?(?:/|$)", re.MULTILINE)
_DOCKER_LOG = "/var/lib/docker/containers/{id}/{id}-json.log"
_SYSTEM_UNITS = ("user@", "session-", "docker.service", "containerd.service", "sshd", "ssh.service", "kubelet", "cron")


@dataclass(frozen=True)
class ServerLog:
    """One place that a server writes to. `path` is "" where it is not a file; `unit` is that of a journal; `why` says why it cannot be opened."""

    kind: str
    pid: int
    name: str
    path: str = ""
    unit: str = ""
    why: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that prints a journal."""
        return ("journalctl", "--no-pager", "--output=short-iso", f"--lines={JOURNAL_LINES}", f"--unit={self.unit}")


def server_logs(host: Host, processes: tuple[VllmProcess, ...]) -> tuple[ServerLog, ...]:
    """Every log of these processes, those that can be opened first; what many processes share stands there once."""
    found: dict[tuple[str, str], ServerLog] = {}
    for process in sorted(processes, key=lambda process: process.role != "api"):
        for log in _logs_of(host, process):
            key = (log.kind, log.path or log.unit or log.name)
            if key not in found and len(found) < MOST:
                found[key] = log
    return tuple(sorted(found.values(), key=lambda log: bool(log.why)))


def _logs_of(host: Host, process: VllmProcess) -> Iterator[ServerLog]:
    outputs = {info.target: info for number in (1, 2) if isinstance(info := host.stat(f"/proc/{process.pid}/fd/{number}"), FileInfo) and info.target}
    piped = ""
    for number, (target, info) in enumerate(outputs.items(), 1):
        if info.kind is Kind.FILE:
            yield _readable(host, ServerLog(FILE, process.pid, target, target if _same(host, target) else f"/proc/{process.pid}/fd/{number}"))
        elif target != "/dev/null":
            if target.startswith("/dev/pts/"):
                yield ServerLog(NOWHERE, process.pid, target, why="terminal")
            else:
                piped = target
    group = host.read(f"/proc/{process.pid}/cgroup", 64 * KIB)
    text = group if isinstance(group, str) else ""
    container = _CONTAINER.search(text)
    unit = next((name for name in _UNIT.findall(text) if not name.startswith(_SYSTEM_UNITS)), "")
    if container is not None:
        path = _DOCKER_LOG.format(id=container[1])
        yield _readable(host, ServerLog(CONTAINER, process.pid, container[1][:12], path))
    elif unit:
        yield ServerLog(JOURNAL, process.pid, unit, unit=unit)
    elif piped:
        yield ServerLog(NOWHERE, process.pid, piped, why="pipe")
    yield from _plogs(host, process)


def _same(host: Host, target: str) -> bool:
    """Whether the path exists here: that of a process in a container may not."""
    info = host.stat(target)
    return isinstance(info, FileInfo) and info.kind is Kind.FILE


def _plogs(host: Host, process: VllmProcess) -> Iterator[ServerLog]:
    """CANN's folder: ASCEND_PROCESS_LOG_PATH, else ~/ascend/log."""
    environ = host.environ(process.pid)
    if isinstance(environ, Unavailable):
        return
    home = environ.get("HOME", "")
    folder = environ.get("ASCEND_PROCESS_LOG_PATH") or environ.get("ASCEND_WORK_PATH", "") and environ["ASCEND_WORK_PATH"] + "/log" or (home and f"{home}/ascend/log")
    if folder.startswith("/") and isinstance(info := host.stat(folder), FileInfo) and info.kind is Kind.FOLDER:
        yield ServerLog(PLOG, process.pid, folder, folder)


def _readable(host: Host, log: ServerLog) -> ServerLog:
    """With the reason where not a single byte can be read."""
    seen = host.read_raw(log.path, 1)
    return replace(log, why=seen.why.value) if isinstance(seen, Unavailable) else log


__all__ = ["CONTAINER", "FILE", "JOURNAL", "NOWHERE", "PLOG", "ServerLog", "server_logs"]
