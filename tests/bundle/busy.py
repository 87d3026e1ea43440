"""A server with 16 dies and 200 processes, made from the healthy A3 fixture; and the same with secrets planted in everything that doctor reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Kind, Listener, Output, Process, Unavailable, Why
from doctor.host.live import LiveHost
from doctor.host.plain import PlainHost
from doctor.host.wrapped import WrappedHost

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "hosts"
PROCESSES = 200
PYTHON = "/opt/venv/bin/python3"


class BusyHost(WrappedHost):
    """`files`, `outputs` and `variables` are laid over the fixture; `argv` is added to the server's."""

    def __init__(
        self,
        base: str = "a3-healthy",
        *,
        files: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        argv: Sequence[str] = (),
        name: str = "busy",
    ) -> None:
        super().__init__(PlainHost(FIXTURES / base))
        self.files = {"/etc/hostname": f"{name}\n", **(files or {})}
        self.outputs = outputs or {}
        self.variables = dict(variables or {})
        self.more = tuple(argv)
        self.name = name

    @property
    def label(self) -> str:
        return self.name

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        if path in self.files:
            return self.files[path][-limit:] if tail else self.files[path][:limit]
        if path.startswith("/proc/") and path.split("/")[2].isdecimal():
            return _proc(path)
        return super().read(path, limit, tail)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        from fnmatch import fnmatchcase

        found = super().list(glob)
        planted = [path for path in self.files if path.count("/") == glob.count("/") and fnmatchcase(path, glob)]
        return tuple(sorted({*found, *planted})) if isinstance(found, tuple) else found

    def stat(self, path: str) -> FileInfo | Unavailable:
        return FileInfo(path, Kind.FILE, len(self.files[path].encode())) if path in self.files else super().stat(path)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        text = self.outputs.get(" ".join(argv))
        return super().run(argv, timeout, env) if text is None else Output(tuple(argv), 0, text)

    def processes(self) -> tuple[Process, ...]:
        return tuple(self._processes())

    def _processes(self) -> Sequence[Process]:
        server = (PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", "/models/qwen", "--tensor-parallel-size", "16", *self.more)
        found = [Process(1, 0, "systemd", ("/sbin/init",), "/usr/lib/systemd/systemd", 0), Process(100, 1, "python3", server, PYTHON, 0, "S", 1.0, "/root")]
        found += [Process(101 + rank, 100, "VLLM::Worker_TP", (f"VLLM::Worker_TP{rank}",), PYTHON, 0, "R", 2.0, "/root") for rank in range(16)]
        found += [Process(1000 + n, 1, f"task{n}", (f"/usr/bin/task{n}", "--serve", f"--port={9000 + n}"), f"/usr/bin/task{n}", 0) for n in range(PROCESSES - len(found))]
        return found

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        own = super().environ(0)
        return {**(own if isinstance(own, Mapping) else {}), **self.variables}

    def listening(self) -> tuple[Listener, ...]:
        return tuple(Listener("0.0.0.0", 9000 + n, 1000 + n) for n in range(150))


def _proc(path: str) -> str | Unavailable:
    name = path.rpartition("/")[2]
    if name == "status":
        return "Name:\tpython3\nUid:\t0\t0\t0\t0\nVmRSS:\t  1000 kB\nVmSwap:\t 0 kB\nCpus_allowed_list:\t0-191\n"
    if name == "limits":
        return "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1048576              1048576              files\n"
    if name == "maps":
        return "7f00-7f01 r-xp 00000000 00:00 0 /usr/lib/libc.so.6\n" * 5000
    return Unavailable(path, Why.MISSING)


class LoggingHost(BusyHost):
    """The same, live, with CANN's logs in a real folder, since logs are read from the disk; `log_path` is where ASCEND_PROCESS_LOG_PATH leads."""

    @property
    def live(self) -> bool:
        return True

    def __init__(self, log_path: Path, **given: Any) -> None:
        variables = {**given.pop("variables", {}), "ASCEND_PROCESS_LOG_PATH": str(log_path)}
        super().__init__(variables=variables, **given)
        self._log_path, self._disk = str(log_path), LiveHost()

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self._disk.list(glob) if glob.startswith(self._log_path) else super().list(glob)

    def stat(self, path: str) -> FileInfo | Unavailable:
        return self._disk.stat(path) if path.startswith(self._log_path) else super().stat(path)
