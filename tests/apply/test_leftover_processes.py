"""Left-over processes: which they are, whose, and how they are ended: real children, and never another that got the number."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from doctor.apply.change import ChangeError, Standing
from doctor.apply.endchange import EndChange, ticks_and_state
from doctor.apply.kind import Context
from doctor.apply.plan import StepPlan
from doctor.apply.plan_leftovers import duration
from doctor.apply.steps.end_process import KIND
from doctor.facts.npu import Npu, NpuProcess, Npus
from doctor.fix import EndProcesses
from doctor.host import Listener, Process, Unavailable, Why
from doctor.host.live import LiveHost
from tests.apply.grounds import context, ground, journaled, undone

OWN = os.geteuid()
ENGINE = ("VLLM::EngineCore",)


@contextmanager
def running(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A child that has said that it is ready."""
    child = subprocess.Popen([sys.executable, "-c", f"{code}\nprint('ready', flush=True)\nimport time\ntime.sleep(600)"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"ready\n"
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def change_for(pid: int, patience: float = 30.0) -> EndChange:
    found = ticks_and_state(Path(f"/proc/{pid}/stat").read_text())
    assert found is not None
    return EndChange(pid, found[0], OWN, "a child", ("child",), patience)


class Machine(LiveHost):
    """This machine with other processes on it; their files under /proc are what a test says."""

    def __init__(self, *processes: Process, files: Mapping[str, str] | None = None, ports: tuple[Listener, ...] = ()) -> None:
        super().__init__("/")
        self._processes, self._files, self._ports = processes, files or {}, ports

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return self._processes

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return self._ports

    def read(self, path: str, limit: int = 1 << 20, tail: bool = False) -> str | Unavailable:
        if path in self._files:
            return self._files[path]
        if path.endswith("/stat") and path.startswith("/proc/") and path.split("/")[2].isdecimal():
            return f"{path.split('/')[2]} (VLLM) S 1 " + "0 " * 17 + "777 0"
        return Unavailable(path, Why.MISSING)

    def now(self) -> datetime:
        return datetime.fromtimestamp(10_000, timezone.utc)


def process(pid: int, ppid: int = 1, *argv: str, uid: int | None = OWN, state: str = "S", started: float = 1000.0) -> Process:
    return Process(pid, ppid, argv[0][:15] if argv else "python", argv, "", uid, state, started)


def planned(host: Machine, which: str = "orphans", *facts: object, euid: int | None = None, port: str = "", **chosen: Any) -> StepPlan:
    looked: Context = context(*facts, host=host, euid=euid, **chosen)
    return KIND.plan("0", EndProcesses(which, port), looked)


def pids(step: StepPlan) -> list[int]:
    return [change.pid for change in step.changes if isinstance(change, EndChange)]


def test_a_process_is_asked_and_ends(tmp_path: Path) -> None:
    with running("import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))") as child:
        change, place = change_for(child.pid), ground(tmp_path / "journal")
        assert change.look(place) is Standing.BEFORE
        change.make(place, change.save(place, "p"))
        assert change.look(place) is Standing.AFTER
        assert child.wait() == 0  # by itself, not killed
        change.make(place, {})  # a second time is harmless
        assert undone(change, tmp_path / "journal", {}) is Standing.AFTER and journaled(change) == change


def test_who_does_not_listen_is_forced(tmp_path: Path) -> None:
    passed: list[str] = []
    with running("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)") as child:
        change = change_for(child.pid, patience=0.05)
        change.make(ground(tmp_path / "journal", passed.append), {})
        assert child.wait() == -signal.SIGKILL
    assert passed == [f"process {child.pid} asked", f"process {child.pid} forced"]


def test_another_process_with_the_same_number_is_not_touched(tmp_path: Path) -> None:
    with running("") as child:
        change = dataclasses.replace(change_for(child.pid), ticks=1)
        assert change.look(ground(tmp_path / "journal")) is Standing.AFTER
        change.make(ground(tmp_path / "journal"), {})
        assert child.poll() is None


def test_a_zombie_has_ended(tmp_path: Path) -> None:
    with running("") as child:
        change = change_for(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert change.look(ground(tmp_path / "journal")) is Standing.AFTER


@pytest.mark.parametrize("pid", [0, 1, -1, os.getpid()], ids=["none", "init", "all", "doctor"])
def test_init_and_doctor_itself_are_never_ended(pid: int, tmp_path: Path) -> None:
    with pytest.raises(ChangeError, match="never ended"):
        EndChange(pid, 1, 0, "x").make(ground(tmp_path / "journal"), {})


def test_an_engine_without_its_server_goes_with_its_workers() -> None:
    host = Machine(process(50, 1, *ENGINE), process(52, 51, "VLLM::Worker_TP1"), process(51, 50, "VLLM::Worker_TP0"), process(99, 1, "sshd"))
    step = planned(host)
    assert step.blocked is None and pids(step) == [50, 51, 52]
    assert any("2 h 30 min" in note.text.en for note in step.notes)


def test_engines_of_a_running_server_are_left_alone() -> None:
    host = Machine(process(40, 1, "/opt/v/bin/python3", "/opt/v/bin/vllm", "serve", "/m"), process(50, 1, *ENGINE))
    assert planned(host).already


def test_for_a_zombie_its_parent_is_ended() -> None:
    host = Machine(process(60, 1, "bash", "start.sh"), process(61, 60, "VLLM::EngineCore", state="Z"))
    assert pids(planned(host, "holders")) == [60]


def test_a_zombie_of_init_has_nobody_to_end() -> None:
    assert planned(Machine(process(61, 1, "VLLM::EngineCore", state="Z")), "holders").already


def test_what_holds_npu_memory_without_a_parent_is_found_by_npu_smi() -> None:
    npus = Npus((Npu(0, 0, "910B3"),), (NpuProcess(0, 0, 70, "python", 30000), NpuProcess(0, 0, 71, "python", 30000)))
    host = Machine(process(70, 1, "python3", "train.py"), process(71, 33, "python3", "train.py"))
    assert pids(planned(host, "holders", npus)) == [70]


def test_another_user_s_process_needs_root_and_its_name() -> None:
    host = Machine(process(50, 1, *ENGINE, uid=OWN + 4711))
    step = planned(host)
    assert step.blocked is not None and "another user" in step.blocked.en and not step.changes
    step = planned(host, euid=0)
    assert step.blocked is not None and "--pid 50" in step.blocked.en
    assert planned(host, pids=(50,), euid=1).blocked is not None
    assert pids(planned(host, pids=(50,), euid=0)) == [50]


def test_a_process_of_another_container_needs_root_and_its_name() -> None:
    inside = Machine(process(50, 1, *ENGINE, uid=0), files={"/proc/50/status": "Name:\tx\nNSpid:\t50\t7\n"})
    step = planned(inside, euid=0)
    assert step.blocked is not None and "another container" in step.blocked.en
    assert pids(planned(inside, euid=0, pids=(50,))) == [50]
    grouped = Machine(process(50, 1, *ENGINE, uid=0), files={"/proc/50/cgroup": "0::/system.slice/docker-0123.scope/docker/containers/1\n", "/proc/self/cgroup": "0::/user.slice\n"})
    step = planned(grouped, euid=0)
    assert step.blocked is not None and "another container" in step.blocked.en


def test_a_running_server_on_the_port_has_to_be_named() -> None:
    server = process(40, 1, "/opt/v/bin/python3", "/opt/v/bin/vllm", "serve", "/m")
    host = Machine(server, ports=(Listener("0.0.0.0", 8000, 40), Listener("0.0.0.0", 9000, 41)))
    step = planned(host, "port", port="<port>")
    assert step.blocked is not None and "--pid 40" in step.blocked.en and step.host_commands == ("kill -TERM 40",)
    assert pids(planned(host, "port", port="8000", pids=(40,))) == [40]
    assert planned(host, "port", port="8001").already


def test_what_doctor_runs_in_is_never_ended() -> None:
    host = Machine(process(50, 1, *ENGINE), process(80, 50, "bash"), files={"/proc/self/stat": "80 (doctor) S 50 0"})
    step = planned(host)
    assert step.blocked is not None and "doctor itself" in step.blocked.en


def test_a_recorded_machine_is_only_looked_at() -> None:
    looked = context(host=Machine(process(50, 1, *ENGINE)))
    step = KIND.plan("0", EndProcesses("orphans"), dataclasses.replace(looked, root="/mnt"))
    assert step.blocked is not None and not step.changes


@pytest.mark.parametrize(("seconds", "told"), [(None, "?"), (5, "5 s"), (125, "2 min"), (3700, "1 h 1 min"), (200_000, "2 d 7 h"), (-3, "0 s")])
def test_ages_as_people_say_them(seconds: float | None, told: str) -> None:
    assert duration(seconds) == told


@pytest.mark.parametrize("text", ["", "1", "1 (x) S", "1 (a) b) S 2 3", "9 (" + ")" * 5000])
def test_stat_lines_that_are_none(text: str) -> None:
    assert ticks_and_state(text) is None
