"""This machine is looked at without harm: nothing blocks, nothing hangs, nothing is left running."""

from __future__ import annotations

import os
import pathlib
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from doctor.host import FileInfo, Host, Kind, Output, Process, Unavailable, Why, live_run
from doctor.host.live import LiveHost
from doctor.host.recorded import RecordedHost
from doctor.host.recording import RecordingHost

LONG = 60.0
"""Seconds that no test may come near: it would mean that something waited for a child."""


def why(answer: object) -> Why:
    assert isinstance(answer, Unavailable), answer
    return answer.why


def python(script: str, timeout: float = LONG, **env: str) -> Output | Unavailable:
    return LiveHost().run([sys.executable, "-I", "-c", script], timeout, env or None)


def out(answer: Output | Unavailable) -> Output:
    assert isinstance(answer, Output), answer
    return answer


# Commands.


def test_output_and_exit_status() -> None:
    answer = out(python("import sys; print('out\\x1b[31m'); print('err', file=sys.stderr); sys.exit(3)"))
    assert (answer.exit, answer.stdout, answer.stderr, answer.truncated) == (3, "out\n", "err\n", False)
    assert answer.argv[0] == sys.executable


def test_a_crash_is_a_negative_status() -> None:
    assert out(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")).exit == -11


def test_a_hanging_command_is_ended_with_its_children(tmp_path: pathlib.Path) -> None:
    # The children and their parent ignore SIGTERM; the FIFO tells when the last of them is gone.
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"os.open({os.fspath(fifo)!r}, os.O_WRONLY)\n"
        "os.fork(); os.fork()\n"
        "print('begun', flush=True)\n"
        "time.sleep(600)\n"
    )
    data: list[bytes] = []
    reader = threading.Thread(target=lambda: data.append(fifo.read_bytes()), daemon=True)
    reader.start()
    assert why(python(script, timeout=2)) is Why.TIMED_OUT
    reader.join(LONG)
    assert data == [b""]


def test_a_flood_is_cut_and_ended() -> None:
    answer = out(python("import os\nwhile True: os.write(1, b'x' * 65536); os.write(2, b'y')"))
    assert answer.truncated and len(answer.stdout) == live_run.OUTPUT_LIMIT and answer.exit < 0


def test_much_on_both_pipes_does_not_lock() -> None:
    answer = out(python("import os\nfor _ in range(20): os.write(2, b'e' * 50000); os.write(1, b'o' * 50000)"))
    assert (len(answer.stdout), len(answer.stderr), answer.exit) == (1_000_000, 1_000_000, 0)


def test_a_grandchild_that_holds_the_pipe_does_not_keep_us(tmp_path: pathlib.Path) -> None:
    pid_file = tmp_path / "pid"
    script = (
        "import os, time\n"
        "pid = os.fork()\n"
        "if pid == 0: time.sleep(600)\n"
        f"open({os.fspath(pid_file)!r}, 'w').write(str(pid))\n"
        "print('done', flush=True); os._exit(0)\n"
    )
    try:
        answer = out(python(script))
        assert (answer.stdout, answer.exit) == ("done\n", 0) and answer.seconds < LONG / 2
    finally:
        os.kill(int(pid_file.read_text()), 9)


def test_a_child_that_closes_its_pipes_is_waited_for() -> None:
    assert out(python("import os, time\nos.close(1); os.close(2); time.sleep(0.2); os._exit(7)")).exit == 7


def test_standard_input_is_closed_and_there_is_no_shell() -> None:
    assert out(python("import sys; print(repr(sys.stdin.read()))")).stdout == "''\n"
    assert out(LiveHost().run(["echo", "$HOME;", "*"])).stdout == "$HOME; *\n"


def test_the_environment_is_a_white_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    monkeypatch.setenv("PATH", "/evil")
    printed = out(python("import os; print(sorted(os.environ)); print(os.environ['PATH'])", EXTRA="1")).stdout
    assert "SECRET_TOKEN" not in printed and "LD_LIBRARY_PATH" not in printed and "evil" not in printed and "EXTRA" in printed
    assert "LC_ALL" in printed


def test_only_the_driver_tools_get_its_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/local/Ascend/driver/lib64")
    for name, expected in (("npu-smi", "/usr/local/Ascend/driver/lib64\n"), ("other", "\n")):
        tool = tmp_path / name
        tool.write_text("#!/bin/sh\necho $LD_LIBRARY_PATH\n")
        tool.chmod(0o755)
        assert out(LiveHost().run([os.fspath(tool)])).stdout == expected


def test_programs_that_cannot_be_run(tmp_path: pathlib.Path) -> None:
    host = LiveHost()
    broken = tmp_path / "broken"
    broken.write_text("no program")
    assert why(host.run(["no-such-program-here"])) is Why.MISSING
    assert why(host.run(["/no/such/program"])) is Why.MISSING
    assert why(host.run(["./broken"])) is Why.DENIED
    assert why(host.run([os.fspath(broken)])) is Why.DENIED
    assert why(host.run([])) is Why.MISSING
    assert why(host.run([""])) is Why.MISSING
    assert why(host.run(["echo", "\0"])) is Why.MISSING
    assert why(host.run(["echo"], env={"A=B": "\0"})) is Why.MISSING


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is careful whose programs it runs")
def test_root_runs_nothing_that_others_could_have_changed(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir(mode=0o755)
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert live_run.find("tool", [os.fspath(folder)]) == os.fspath(tool)
    tool.chmod(0o777)
    assert why(live_run.find("tool", [os.fspath(folder)])) is Why.DENIED
    tool.chmod(0o755)
    folder.chmod(0o777)
    assert why(live_run.find("tool", [os.fspath(folder)])) is Why.DENIED
    folder.chmod(0o755)
    os.chown(tool, 12345, 0)
    assert why(live_run.find("tool", [os.fspath(folder)])) is Why.DENIED


# Files.


def test_files(tmp_path: pathlib.Path) -> None:
    host = LiveHost()
    file = tmp_path / "log"
    file.write_bytes(b"first\r\n" + "驱动".encode() + b"\x1b[0m\nlast\n")
    (tmp_path / "link").symlink_to(file)
    assert host.read(os.fspath(file)) == "first\n驱动\nlast\n" == host.read(os.fspath(tmp_path / "link"))
    assert host.read(os.fspath(file), limit=5) == "first"
    assert host.read(os.fspath(file), limit=5, tail=True) == "last\n"
    assert host.read(os.fspath(file), limit=0) == ""
    assert host.resolve(os.fspath(tmp_path / "link")) == os.path.realpath(file)
    assert host.list(f"{tmp_path}/l*") == (f"{tmp_path}/link", f"{tmp_path}/log")
    info = host.stat(os.fspath(tmp_path / "link"))
    assert isinstance(info, FileInfo)
    assert (info.kind, info.target, info.size, info.uid) == (Kind.FILE, os.fspath(file), file.stat().st_size, os.geteuid())
    assert info.mode == file.stat().st_mode & 0o7777


def test_what_is_no_regular_file_is_not_opened(tmp_path: pathlib.Path) -> None:
    host = LiveHost()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "dangling").symlink_to("nowhere")
    for path in (fifo, tmp_path, tmp_path / "link", "/dev/zero", "/dev/tty"):
        answer = host.read(os.fspath(path))
        assert isinstance(answer, Unavailable) and (answer.why, answer.detail) == (Why.DENIED, "not a regular file")
    assert why(host.read(os.fspath(tmp_path / "dangling"))) is Why.MISSING
    assert why(host.read("/\0")) is Why.MISSING
    assert why(host.read("/" + "x" * 5000)) is Why.MISSING
    zero, link = host.stat("/dev/zero"), host.stat(os.fspath(tmp_path / "dangling"))
    assert isinstance(zero, FileInfo) and zero.kind is Kind.CHAR_DEVICE
    assert isinstance(link, FileInfo) and link.kind is Kind.LINK


def test_files_without_a_size() -> None:
    text, tail = LiveHost().read("/proc/self/status"), LiveHost().read("/proc/self/status", limit=100, tail=True)
    assert isinstance(text, str) and text.startswith("Name:")
    assert isinstance(tail, str) and len(tail) == 100 and "nonvoluntary" in tail


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch(mode=0)
    (tmp_path / "folder").mkdir(mode=0)
    assert why(LiveHost().read(os.fspath(tmp_path / "file"))) is Why.DENIED
    assert why(LiveHost().list(f"{tmp_path}/folder/*")) is Why.DENIED
    assert why(LiveHost().environ(1)) is Why.DENIED


# Processes and sockets.


def test_processes() -> None:
    answer = LiveHost().processes()
    assert isinstance(answer, tuple)
    own = next(process for process in answer if process.pid == os.getpid())
    assert isinstance(own, Process)
    assert (own.ppid, own.uid, own.exe, own.cwd) == (os.getppid(), os.getuid(), os.path.realpath(sys.executable), os.getcwd())
    assert own.started is not None and abs(own.started - LiveHost().now().timestamp()) < 86400
    assert own.argv and own.name and own.state in "RSD"
    assert [process.pid for process in answer] == sorted(process.pid for process in answer)


def test_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIRTY", "a\x1b[31mb")
    own, started = LiveHost().environ(0), LiveHost().environ(os.getpid())
    assert isinstance(own, dict) and own["DIRTY"] == "ab"
    assert isinstance(started, dict) and "DIRTY" not in started
    assert why(LiveHost().environ(2**22 + 7)) is Why.MISSING


@pytest.mark.parametrize("family, address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_listening(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip("no such address here")
        server.listen()
        port = server.getsockname()[1]
        answer = LiveHost().listening()
        assert isinstance(answer, tuple)
        assert [(each.address, each.pid) for each in answer if each.port == port] == [(address, os.getpid())]


# A mounted host.


def test_a_mounted_host(tmp_path: pathlib.Path) -> None:
    for name in ("etc", "usr/lib", "proc/1/net", "proc/7"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "etc/hostname").write_text("node-7\n")
    (tmp_path / "usr/lib/os-release").write_text("ID=openeuler\n")
    (tmp_path / "etc/os-release").symlink_to("/usr/lib/os-release")
    (tmp_path / "etc/escape").symlink_to("../../../../../../etc/passwd")
    (tmp_path / "proc/stat").write_text("cpu 1\nbtime 1000\n")
    (tmp_path / "proc/7/stat").write_text("7 (a) (b) S 1 " + "0 " * 17 + "500 0\n")
    (tmp_path / "proc/7/cmdline").write_bytes(b"vllm\0serve\0\0\0")
    (tmp_path / "proc/7/environ").write_bytes(b"A=1\0B=x=y\0\0=odd\0")
    (tmp_path / "proc/7/exe").symlink_to("/opt/python3 (deleted)")
    (tmp_path / "proc/1/net/tcp").write_text("  sl  local\n   0: 0100007F:1F40 00000000:0000 0A 0:0 00:0 0 0 0 4711 1\n  1: garbage\n")
    host = LiveHost(os.fspath(tmp_path))
    assert (host.label, host.live) == ("node-7", False)
    assert host.read("/etc/os-release") == "ID=openeuler\n"
    assert host.resolve("/etc/os-release") == "/usr/lib/os-release"
    assert why(host.read("/etc/escape")) is Why.MISSING
    started = 1000 + 500 / os.sysconf("SC_CLK_TCK")
    assert host.processes() == (Process(7, 1, "a) (b", ("vllm", "serve"), "/opt/python3", None, "S", started, ""),)
    assert host.environ(7) == {"A": "1", "B": "x=y"}
    assert why(host.environ(0)) is Why.NOT_RECORDED and why(host.run(["env"])) is Why.NOT_RECORDED
    sockets = host.listening()
    assert isinstance(sockets, tuple) and [(each.address, each.port, each.pid) for each in sockets] == [("127.0.0.1", 8000, None)]
    assert why(LiveHost(os.fspath(tmp_path / "etc")).processes()) is Why.MISSING


# Record and replay.

QUESTIONS: list[Callable[[Host], Any]] = [
    *[
        lambda host, path=path: host.read(path)
        for path in ("/etc/passwd", "/etc/os-release", "/proc/meminfo", "/proc/self/status", "/dev/zero", "/etc", "/absent", "/proc/1/environ")
    ],
    lambda host: host.read("/etc/passwd", limit=10),
    lambda host: host.read("/etc/passwd", limit=10, tail=True),
    *[lambda host, glob=glob: host.list(glob) for glob in ("/proc/sys/vm/*", "/dev/*", "/absent/*", "/etc/os-release")],
    *[lambda host, path=path: host.stat(path) for path in ("/", "/dev/null", "/proc/self/exe", "/absent", "/etc/passwd")],
    *[lambda host, path=path: host.resolve(path) for path in ("/bin/sh", "/proc/self", "/absent")],
    lambda host: host.run(["uname", "-a"]),
    lambda host: host.run(["ls", "/absent"]),
    lambda host: host.run(["npu-smi-absent", "info"]),
    lambda host: host.run([sys.executable, "-I", "-c", "import time; print('x', flush=True); time.sleep(600)"], 0.5),
    lambda host: host.processes(),
    lambda host: host.environ(0),
    lambda host: host.environ(2**22 + 7),
    lambda host: host.listening(),
    lambda host: host.now(),
    lambda host: host.boot_id(),
]


def test_a_recording_of_this_machine_replays_exactly(tmp_path: pathlib.Path) -> None:
    recording = RecordingHost(LiveHost(), tmp_path / "snapshot")
    answers = [question(recording) for question in QUESTIONS]
    assert recording.problem == ""
    replay = RecordedHost(tmp_path / "snapshot")
    assert [question(replay) for question in QUESTIONS] == answers
    assert replay.label == recording.label
