"""Takes one look at a running server through the Host: cheap enough for 64 processes every 30 s.

Contract: reads /proc, /dev/shm and the cgroup; asks the server's own pages through `fetch`; runs nothing but `npu-smi info`, at its own slower
pace. All processes of the machine are listed only now and then, and when one that is followed has gone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from doctor.facts import HostFacts
from doctor.facts.npu import Npus
from doctor.facts.number import whole
from doctor.facts.processes import parse_limits, parse_status
from doctor.facts.serve_text import parse_command
from doctor.host import KIB, Host, Kind, Unavailable, Why
from doctor.watch.fetch import Fetch, fetch
from doctor.watch.hostmemory import HostMemory, kilobytes
from doctor.watch.logtail import LogTail
from doctor.watch.pages import Pages
from doctor.watch.roles import Member, members, zombies
from doctor.watch.sample import CardSample, LogSample, ProcessSample, Sample

TICKS = 100
"""Clock ticks a second in /proc: USER_HZ, the same on every Linux."""
DISCOVER_EVERY = 300.0
"""Seconds between two listings of all processes."""
NPU_EVERY = 300.0
"""Seconds between two calls of npu-smi, each of 1 to 4 s."""
DEFAULT_PORT = 8000


@dataclass(frozen=True)
class Target:
    """What to watch: processes by number (with their descendants), or whatever is found; a server's address; a log."""

    pids: tuple[int, ...] = ()
    url: str = ""
    """http://host:port; "": found from the processes' arguments and sockets."""
    log: str = ""
    """A path on the host; "": where the API server's output goes, if that is a file."""


class Sampler:
    """Looks again and again; remembers only what it needs for the next look."""

    def __init__(self, host: Host, target: Target, every: float, *, own: int = 0, get: Fetch = fetch, npu_every: float = NPU_EVERY) -> None:
        self._host, self._target, self._every, self._own = host, target, every, own
        self.pages = Pages(get, every)
        self._npu_every: float | None = npu_every if host.live else None
        self.members: tuple[Member, ...] = ()
        self._servers: dict[int, str] = {}
        self._asked = ""
        self._zombies: dict[int, int] = {}
        self._limits: dict[int, int | None] = {}
        self._discovered = self._asked_npu = -1e18
        self._argv: dict[int, tuple[str, ...]] = {}
        self._clock: tuple[float, float] | None = None
        self._boot = ""
        self._memory = HostMemory(host)
        self.url = target.url.rstrip("/")
        self.page = ""
        """The text of the last /metrics page."""
        self.problems: dict[str, str] = {}
        """What could not be looked at, and why, by its name."""
        self.tail = LogTail(host, target.log) if target.log else None
        self._elsewhere = bool(target.url) and not target.pids and not _is_here(target.url, host.label)

    @property
    def asks_npu(self) -> bool:
        """Whether npu-smi may be run at all."""
        return self._npu_every is not None and self._npu_every < float("inf")

    def sample(self) -> Sample:
        """Everything at this moment."""
        time = self._host.now().timestamp()
        uptime = self._uptime(time)
        events: list[str] = self._clock_events(time, uptime)
        processes = self._processes(uptime, events)
        self.pages.ask(self.url, uptime)  # answered while the rest is looked at, or later
        memory, cards = self._memory.sample(self.members[0].pid if self.members else None), self._cards(uptime)
        log, rotated = self._log(uptime)
        told = self.pages.take(self.url, uptime)
        self.page = told.page or self.page
        return Sample(
            time, uptime, self._boot, self._every, processes, memory, cards, told.metrics, told.problem, told.health, log, tuple(events) + rotated,
            page_age=told.age, asked=self._asked if len(self._servers) > 1 else "", waiting=told.waiting,
        )  # fmt: skip

    def _uptime(self, time: float) -> float:
        text = self._host.read("/proc/uptime", KIB)
        boot = self._host.boot_id() if not self._boot else self._boot
        self._boot = boot if isinstance(boot, str) else ""
        found = re.match(r"(\d{1,12}\.\d{1,3})", text) if isinstance(text, str) else None
        return float(found[1]) if found else time

    def _clock_events(self, time: float, uptime: float) -> list[str]:
        before, self._clock = self._clock, (time, uptime)
        shift = 0.0 if before is None else (time - before[0]) - (uptime - before[1])
        return [f"clock {shift:+.0f} s"] if abs(shift) > max(5.0, 0.5 * self._every) else []

    # Processes

    def _processes(self, uptime: float, events: list[str]) -> tuple[ProcessSample, ...]:
        if self._elsewhere:
            return ()  # another machine's server: what runs here is not its
        found = [self._process(member) for member in self.members]
        lost = [member for member, process in zip(self.members, found, strict=True) if process is None]
        if lost or not self.members or uptime - self._discovered >= DISCOVER_EVERY:
            self._discover(uptime, lost, events)
            found = [self._process(member) for member in self.members]
        return tuple(process for process in found if process is not None)

    def _discover(self, uptime: float, lost: Sequence[Member], events: list[str]) -> None:
        self._discovered = uptime
        listed = self._host.processes()
        if isinstance(listed, Unavailable):
            self.problems["processes"] = str(listed)
            return
        known = {member.pid for member in self.members}
        pids = self._target.pids
        if pids and not any(process.pid in pids for process in listed):
            # Whoever restarts a server starts it with the same command.
            wanted = {self._argv.get(pid) for pid in pids} - {None, ()}
            pids = tuple(process.pid for process in listed if process.argv in wanted) or pids
        found = members(listed, pids, self._own)
        self._argv |= {member.pid: member.argv for member in found if member.pid in self._target.pids}
        gone = [member for member in lost if member.pid not in {new.pid for new in found}]
        fresh = [member for member in found if member.pid not in known] if known else []
        events += [f"gone {member.role} {member.pid} {member.label}" for member in gone[:16]]
        events += [f"started {member.role} {member.pid} {member.label}" for member in fresh[:16]]
        self.members = found
        self._zombies = zombies(listed, found)
        self._limits = {member.pid: self._fd_limit(member.pid) for member in found}
        self._find_address()
        self._find_log()

    def _fd_limit(self, pid: int) -> int | None:
        text = self._host.read(f"/proc/{pid}/limits", 8 * KIB)
        return parse_limits(text).get("Max open files") if isinstance(text, str) else None

    def _process(self, member: Member) -> ProcessSample | None:
        folder = f"/proc/{member.pid}"
        line = self._host.read(f"{folder}/stat", 4 * KIB)
        status = self._host.read(f"{folder}/status", 16 * KIB)
        if isinstance(line, Unavailable) or isinstance(status, Unavailable):
            return None
        stat = line.rpartition(")")[2].split()
        if len(stat) < 20 or stat[0] in ("Z", "X"):
            return None
        values = parse_status(status)
        return ProcessSample(
            member.pid, whole(stat[19]) or 0, member.role, member.label, kilobytes(values, "RssAnon"), kilobytes(values, "RssFile"),
            kilobytes(values, "RssShmem"), kilobytes(values, "VmSwap"), kilobytes(values, "VmSize"), self._fds(folder), self._limits.get(member.pid),
            whole(values.get("Threads")), self._children(member.pid), self._zombies.get(member.pid, 0), stat[0], whole(stat[7]), whole(stat[9]),
            ((whole(stat[11]) or 0) + (whole(stat[12]) or 0)) / TICKS, self._servers.get(member.server, ""),
        )  # fmt: skip

    def _fds(self, folder: str) -> int | None:
        """How many files are open: Linux 6.2 tells it as the folder's size; before that they are counted."""
        info = self._host.stat(f"{folder}/fd")
        if isinstance(info, Unavailable) or info.kind is not Kind.FOLDER:
            return None
        if info.size:
            return info.size
        names = self._host.list(f"{folder}/fd/*")
        return None if isinstance(names, Unavailable) else len(names)

    def _children(self, pid: int) -> int:
        return sum(member.ppid == pid for member in self.members)

    # NPUs

    def _cards(self, uptime: float) -> tuple[CardSample, ...] | None:
        if self._npu_every is None or uptime - self._asked_npu < self._npu_every:
            return None
        self._asked_npu = uptime
        npus = HostFacts(self._host).get(Npus)
        if isinstance(npus, Unavailable):
            self.problems["npu"] = str(npus)
            if npus.why is Why.MISSING and "missing" in npus.detail:
                self._npu_every = None
            return None
        self.problems.pop("npu", None)
        chips = [CardSample(f"{chip.npu_id}-{chip.chip_id or 0}", 0, chip.hbm_used_mb, chip.hbm_total_mb) for chip in npus.chips if chip.hbm_used_mb is not None]
        return (*chips, *(CardSample(f"{row.npu_id}-{row.chip_id or 0}", row.pid, row.memory_mb) for row in npus.processes if row.memory_mb is not None))

    # The server's own pages and its log

    def _find_address(self) -> None:
        """Of every server its name, by its port; of the first one the address."""
        heads = {member.server for member in self.members if member.server}
        ports = {member.pid: _told_port(member) for member in self.members if member.role == "api"}
        if any(port is None for port in ports.values()):
            listening = self._host.listening()
            for each in listening if isinstance(listening, tuple) else ():
                if each.pid is not None and ports.get(each.pid, 0) is None:
                    ports[each.pid] = each.port
        self._servers = {head: f":{ports[head]}" if ports.get(head) else f"pid {head}" for head in sorted(heads)}
        if self._target.url:
            try:
                named = f":{urlsplit(self._target.url).port or 80}"
            except ValueError:
                named = ""
            self._asked = named if named in self._servers.values() else ""
            return
        server = next((member for member in self.members if member.role == "api" and ports.get(member.pid)), None)
        self.url = f"http://127.0.0.1:{ports[server.pid]}" if server is not None else ""
        self._asked = self._servers.get(server.server, "") if server is not None else ""

    def _find_log(self) -> None:
        if self._target.log or (self.tail is not None and not self.tail.problem):
            return
        for member in self.members:
            path = self._host.resolve(f"/proc/{member.pid}/fd/1") if member.role == "api" else None
            info = self._host.stat(path) if isinstance(path, str) else None
            if isinstance(path, str) and info is not None and not isinstance(info, Unavailable) and info.kind is Kind.FILE and not path.startswith("/dev/"):
                self.tail = LogTail(self._host, path)
                return

    def _log(self, uptime: float) -> tuple[LogSample | None, tuple[str, ...]]:
        return self.tail.look(uptime) if self.tail is not None else (None, ())


def _told_port(member: Member) -> int | None:
    """Of the command line of an API server; None where it is started otherwise."""
    command = parse_command(member.argv, "", pid=member.pid)
    return None if command is None else whole(command.flags.get("port") or "") or DEFAULT_PORT


def _is_here(url: str, label: str) -> bool:
    try:
        name = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return name in ("localhost", "::1", "0.0.0.0", label.lower()) or name.startswith("127.")


__all__ = ["NPU_EVERY", "Sampler", "Target"]
