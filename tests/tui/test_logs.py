"""Where a running vLLM writes, and the screen that offers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.widgets import OptionList

from doctor.facts.vllm import vllm_processes
from doctor.facts.vllm_logs import CONTAINER, FILE, JOURNAL, NOWHERE, PLOG, ServerLog, server_logs
from doctor.host import RUN_TIMEOUT, FileInfo, Kind, Output, Process, Unavailable, Why
from doctor.tui.job import HostJob
from doctor.tui.screens.checkup import CheckupScreen
from doctor.tui.screens.evidence import EvidenceScreen
from doctor.tui.screens.logs import LogsScreen
from tests.tui.driving import Driven, drive
from tests.tui.standins import PROCESSES, Working

ID = "0123456789abcdef" * 4
FAULT = "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory\n"


class Writing(Working):
    """A live host whose server writes to where the links of its outputs say."""

    def __init__(self, links: Mapping[str, tuple[str, Kind]], groups: Mapping[int, str] | None = None, readable: Sequence[str] = (), journal: str = "") -> None:
        super().__init__()
        self.links, self.groups, self.readable, self.journal = links, groups or {}, readable, journal
        self.asked: list[Sequence[str]] = []

    def stat(self, path: str) -> FileInfo | Unavailable:
        if path in self.links:
            target, kind = self.links[path]
            return FileInfo(path, kind, target=target)
        known = path in self.readable
        return FileInfo(path, Kind.FOLDER if path.endswith("/log") else Kind.FILE) if known else Unavailable(path, Why.MISSING)

    def read(self, path: str, limit: int = 0, tail: bool = False) -> str | Unavailable:
        pid = path.split("/")[2] if path.endswith("/cgroup") else ""
        return self.groups.get(int(pid), "") if pid.isdigit() else Unavailable(path, Why.MISSING)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return b"x" if path in self.readable else Unavailable(path, Why.DENIED)

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return {"HOME": "/root"} if pid == 4000 else Unavailable("environ", Why.DENIED)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        self.asked.append(argv)
        if argv[0] == "journalctl":
            return Output(tuple(argv), 0, self.journal) if self.journal else Unavailable("journalctl", Why.MISSING)
        return super().run(argv, timeout, env)


def logs(host: Any, processes: Sequence[Process] = PROCESSES) -> list[tuple[str, str, str]]:
    return [(log.kind, log.path or log.unit or log.name, log.why) for log in server_logs(host, vllm_processes(processes))]


def test_files_of_outputs_are_found_once_and_cann_s_folder_with_them() -> None:
    links = {f"/proc/{pid}/fd/{number}": ("/var/log/vllm.log", Kind.FILE) for pid in (4000, 4100, 4711) for number in (1, 2)}
    host = Writing(links, readable=["/var/log/vllm.log", "/root/ascend/log"])
    assert logs(host) == [(FILE, "/var/log/vllm.log", ""), (PLOG, "/root/ascend/log", "")]


def test_a_file_that_only_the_process_can_see_is_opened_through_it() -> None:
    host = Writing({"/proc/4000/fd/1": ("/logs/in-container.log", Kind.FILE)}, readable=["/proc/4000/fd/1"])
    assert logs(host) == [(FILE, "/proc/4000/fd/1", "")]


def test_units_and_containers_are_told_by_the_control_group() -> None:
    pipes = {"/proc/4000/fd/1": ("socket:[1]", Kind.SOCKET), "/proc/5000/fd/1": ("pipe:[2]", Kind.FIFO)}
    groups = {4000: "0::/system.slice/vllm-serve.service\n", 5000: f"0::/system.slice/docker-{ID}.scope\n"}
    found = logs(Writing(pipes, groups))
    assert (JOURNAL, "vllm-serve.service", "") in found
    assert (CONTAINER, f"/var/lib/docker/containers/{ID}/{ID}-json.log", "denied") in found


def test_the_unit_of_a_login_is_no_unit_of_the_server() -> None:
    groups = {4000: "0::/user.slice/user-0.slice/user@0.service/app.slice/session-3.scope\n"}
    assert logs(Writing({"/proc/4000/fd/1": ("pipe:[2]", Kind.FIFO)}, groups)) == [(NOWHERE, "pipe:[2]", "pipe")]


def test_a_terminal_and_dev_null_keep_nothing() -> None:
    links = {"/proc/4000/fd/1": ("/dev/pts/3", Kind.CHAR_DEVICE), "/proc/4000/fd/2": ("/dev/null", Kind.CHAR_DEVICE)}
    assert logs(Writing(links)) == [(NOWHERE, "/dev/pts/3", "terminal")]


def test_a_journal_is_asked_for_by_its_unit_and_bounded() -> None:
    argv = ServerLog(JOURNAL, 1, "x.service", unit="x.service").argv
    assert argv[0] == "journalctl" and "--unit=x.service" in argv and any(word.startswith("--lines=") for word in argv)


# The screen


async def choose(driven: Driven, number: int = 0) -> None:
    await driven.press("l")
    await driven.until("Logs of the running vLLM")
    box = driven.app.screen.query_one(OptionList)
    box.focus()
    box.highlighted = number
    await driven.press("enter")


def test_a_file_of_the_running_server_is_diagnosed(tmp_path: Path) -> None:
    log = tmp_path / "[red]serve.log"
    log.write_text("INFO ok\n" * 30 + FAULT, encoding="utf-8")
    host = Writing({"/proc/4000/fd/1": (str(log), Kind.FILE)}, readable=[str(log)])

    async def act(driven: Driven) -> None:
        await choose(driven)
        screen = await driven.examined()
        assert screen.report is not None and screen.report.examination.scan.lines == 31
        await driven.press("v")
        assert isinstance(driven.app.screen, EvidenceScreen)
        await driven.until(">  31" if "> " not in driven.text else "31")

    drive(HostJob(host), act, (120, 30), examined=False)


def test_a_journal_is_read_behind_the_screen_and_a_missing_one_told() -> None:
    links, groups = {"/proc/4000/fd/1": ("socket:[1]", Kind.SOCKET)}, {4000: "0::/system.slice/vllm.service\n"}
    there, none = Writing(links, groups, journal=FAULT), Writing(links, groups)

    async def read(driven: Driven) -> None:
        await choose(driven)
        await driven.until("journal vllm.service")
        assert isinstance(driven.app.screen, CheckupScreen)

    async def missing(driven: Driven) -> None:
        await choose(driven)
        await driven.until("journalctl: missing")
        assert isinstance(driven.app.screen, LogsScreen)

    drive(HostJob(there), read, examined=False)
    drive(HostJob(none), missing, examined=False)


def test_what_keeps_no_log_says_what_to_do() -> None:
    host = Writing({"/proc/4000/fd/1": ("/dev/pts/3", Kind.CHAR_DEVICE)})

    async def act(driven: Driven) -> None:
        await choose(driven)
        assert "tee vllm.log" in driven.text

    drive(HostJob(host), act, examined=False)
