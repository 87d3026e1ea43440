"""A host made of a dictionary: files, processes, commands and clocks that a test moves."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Kind, Listener, Output, Process, Unavailable, Why


class FakeHost:
    """Everything that the watch looks at."""

    label = "made"
    live = True

    def __init__(self) -> None:
        self.files: dict[str, str | bytes] = {"/proc/meminfo": "MemTotal: 1000000 kB\nMemAvailable: 800000 kB\n"}
        self.links: dict[str, str] = {}
        self.running: list[Process] = []
        self.commands: dict[str, str] = {}
        self.asked: list[tuple[str, ...]] = []
        self.listeners: tuple[Listener, ...] = ()
        self.time = 1_796_000_000.0
        self.uptime = 5000.0

    def add(self, pid: int, name: str, argv: Sequence[str] = (), *, ppid: int = 1, anon: int = 1000, threads: int = 2, started: int = 1000, fds: int = 5, state: str = "S") -> None:
        """One process; memory in kB."""
        self.running = [process for process in self.running if process.pid != pid]
        self.running.append(Process(pid, ppid, name, tuple(argv), state=state, started=float(started)))
        fields = [state, str(ppid), *["0"] * 5, "11", "0", "3", "0", "500", "20", *["0"] * 6, str(started)]
        self.files[f"/proc/{pid}/stat"] = f"{pid} ({name}) {' '.join(fields)}\n"
        self.files[f"/proc/{pid}/status"] = f"Name:\t{name}\nVmSize:\t 9000 kB\nRssAnon:\t{anon} kB\nRssFile:\t 10 kB\nRssShmem:\t 0 kB\nVmSwap:\t 4 kB\nThreads:\t{threads}\n"
        self.files[f"/proc/{pid}/limits"] = "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 4096                 files\n"
        self.files |= {f"/proc/{pid}/fd/{number}": "" for number in range(fds)}

    def end(self, pid: int) -> None:
        self.running = [process for process in self.running if process.pid != pid]
        self.files = {path: text for path, text in self.files.items() if not path.startswith(f"/proc/{pid}/")}

    def tick(self, seconds: float = 30.0) -> None:
        self.time += seconds
        self.uptime += seconds

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        if path == "/proc/uptime":
            return f"{self.uptime:.2f} 1.00\n"
        data = self.read_raw(path, limit)
        return data.decode() if isinstance(data, bytes) else data

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        text = self.files.get(path)
        if text is None:
            return Unavailable(path, Why.MISSING)
        data = text.encode() if isinstance(text, str) else text
        return data[offset : offset + limit]

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        depth = glob.count("/")
        cut = {"/".join(path.split("/")[: depth + 1]) for path in self.files if path.count("/") >= depth}
        return tuple(sorted(path for path in cut if fnmatch.fnmatchcase(path, glob)))

    def stat(self, path: str) -> FileInfo | Unavailable:
        if path in self.files:
            text = self.files[path]
            return FileInfo(path, Kind.FILE, len(text.encode() if isinstance(text, str) else text))
        if any(name.startswith(path + "/") for name in self.files):
            return FileInfo(path, Kind.FOLDER, 0)
        return Unavailable(path, Why.MISSING)

    def resolve(self, path: str) -> str | Unavailable:
        return self.links.get(path) or Unavailable(path, Why.MISSING)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        self.asked.append(tuple(argv))
        text = self.commands.get(" ".join(argv))
        return Unavailable(" ".join(argv), Why.MISSING) if text is None else Output(tuple(argv), 0, text)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return tuple(self.running)

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return {}

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return self.listeners

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time, timezone.utc)

    def boot_id(self) -> str | Unavailable:
        return "boot"


def server(host: FakeHost, *, pid: int = 100) -> None:
    """A vLLM of four processes."""
    host.add(pid, "vllm", ("/venv/bin/python3", "/venv/bin/vllm", "serve", "m", "--port", "8123", "--api-key", "hunter2"))
    host.add(pid + 1, "VLLM::EngineCor", ("VLLM::EngineCore",), ppid=pid)
    host.add(pid + 2, "VLLM::Worker_TP", ("VLLM::Worker_TP0",), ppid=pid + 1)
    host.add(pid + 3, "VLLM::Worker_TP", ("VLLM::Worker_TP1",), ppid=pid + 1)
