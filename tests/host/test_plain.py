"""A host written by hand answers as the machine would, and says what nobody wrote down."""

from __future__ import annotations

import os
import pathlib
import socket
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.host import FileInfo, Host, Kind, Output, Process, Unavailable, Why
from doctor.host.plain import PlainHost, parse_env

COMMANDS = """\
$ uname -r
5.10.0-216.0.0.115.oe2203sp4.aarch64
[exit 0]

$ npu-smi info
| npu-smi 25.5.2 |
[exit 0]

$ hccn_tool -i 0 -link -g
bash: hccn_tool: command not found
[exit 127]

$ env
HOME=/root
FUNCTION={
 body
}
EMPTY=
[exit 0]

$ /opt/venv/bin/python3 -c 'import torch, torch_npu; print(torch.npu.device_count())'
Segmentation fault (core dumped)
[exit 139]

$ LANG=C lspci -Dn -d 19e5:
[exit 0]

$ ps -eo pid,ppid,user,args
    PID    PPID USER     COMMAND
      1       0 root     /sbin/init splash
      2       0 root     [kthreadd]
   4242       1 llm      /opt/venv/bin/python3 /opt/venv/bin/vllm serve --model x
[exit 0]

$ date -u +%Y-%m-%dT%H:%M:%SZ
2026-11-28T08:00:00Z
[exit 0]

$ dmesg
dmesg: read kernel buffer failed: Operation not permitted
"""


@pytest.fixture
def host(tmp_path: pathlib.Path) -> PlainHost:
    folder = tmp_path / "h-example"
    files = folder / "files"
    for name in ("etc", "dev/shm", "usr/local/cann-8.5.1", "usr/local/cann-9.0.0", "opt/.hidden"):
        (files / name).mkdir(parents=True)
    (files / "etc/os-release").write_text('NAME="openEuler"\r\n\x1b[31mred\n')
    (files / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nllm:x:1007:1007::/:/bin/sh\nbroken\n")
    (files / "dev/davinci0").touch()
    (files / "dev/shm/empty").touch()
    (files / "usr/local/cann-8.5.1/version.info").write_text("Version=8.5.1\n")
    (files / "usr/local/cann").symlink_to("cann-8.5.1")
    (files / "usr/local/absolute").symlink_to("/usr/local/cann-8.5.1")
    (files / "usr/local/outside").symlink_to("../../../../../../../etc/os-release")
    (files / "usr/local/dangling").symlink_to("nowhere")
    (files / "usr/local/loop").symlink_to("loop")
    (folder / "commands.txt").write_text(COMMANDS)
    return PlainHost(folder)


def out(answer: Output | Unavailable) -> Output:
    assert isinstance(answer, Output), answer
    return answer


def why(answer: object) -> Why:
    assert isinstance(answer, Unavailable), answer
    return answer.why


def test_is_a_host(host: PlainHost) -> None:
    seen: Host = host
    assert seen.label == "h-example" and not seen.live


def test_files(host: PlainHost) -> None:
    assert host.read("/etc/os-release") == 'NAME="openEuler"\nred\n'
    assert host.read("/etc/os-release", limit=4) == "NAME"
    assert host.read("/etc/os-release", limit=4, tail=True) == "red\n"
    assert why(host.read("/etc/absent")) is Why.MISSING
    assert why(host.read("/etc")) is Why.DENIED
    assert why(host.read("/etc/os-release/below")) is Why.MISSING
    assert why(host.read("/etc/\0")) is Why.MISSING


def test_links_are_followed_inside(host: PlainHost) -> None:
    assert host.read("/usr/local/cann/version.info") == "Version=8.5.1\n"
    assert host.read("/usr/local/absolute/version.info") == "Version=8.5.1\n"
    assert host.resolve("/usr/local/absolute/version.info") == "/usr/local/cann-8.5.1/version.info"
    assert host.resolve("/usr/local/outside") == "/etc/os-release"
    assert host.resolve("/../../../etc/passwd") == "/etc/passwd"
    assert why(host.read("/usr/local/loop")) is Why.MISSING
    assert why(host.read("/usr/local/dangling")) is Why.MISSING


def test_a_link_to_the_real_root_is_not_followed(tmp_path: pathlib.Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "host/files").mkdir(parents=True)
    (tmp_path / "host/files/link").symlink_to(secret)
    (tmp_path / "host/files/folder").symlink_to(tmp_path)
    host = PlainHost(tmp_path / "host")
    assert why(host.read("/link")) is Why.MISSING
    assert why(host.read("/folder/secret")) is Why.MISSING
    assert host.list("/folder/*") == ()


def test_a_link_that_was_checked_out_as_text_is_a_link(host: PlainHost) -> None:
    (pathlib.Path(host._tree.root) / "usr/local/textual").write_text("../local/cann")
    (pathlib.Path(host._tree.root) / "usr/local/word").write_text("unknown")
    (pathlib.Path(host._tree.root) / "usr/local/line").write_text("cann\n")
    assert host.resolve("/usr/local/textual/version.info") == "/usr/local/cann-8.5.1/version.info"
    assert host.read("/usr/local/textual/version.info") == "Version=8.5.1\n"
    info = host.stat("/usr/local/textual")
    assert isinstance(info, FileInfo) and (info.kind, info.target) == (Kind.FOLDER, "../local/cann")
    assert host.read("/usr/local/word") == "unknown" and host.read("/usr/local/line") == "cann\n"


def test_stat(host: PlainHost) -> None:
    assert host.stat("/dev/davinci0") == FileInfo("/dev/davinci0", Kind.CHAR_DEVICE)
    assert why(host.read("/dev/davinci0")) is Why.DENIED
    assert host.stat("/dev/shm/empty") == FileInfo("/dev/shm/empty", Kind.FILE)
    assert host.stat("/etc/passwd") == FileInfo("/etc/passwd", Kind.FILE, size=60)
    assert host.stat("/") == FileInfo("/", Kind.FOLDER, size=os.stat(host._tree.root).st_size)
    link, dangling = host.stat("/usr/local/cann"), host.stat("/usr/local/dangling")
    assert isinstance(link, FileInfo) and (link.kind, link.target) == (Kind.FOLDER, "cann-8.5.1")
    assert isinstance(dangling, FileInfo) and (dangling.kind, dangling.target) == (Kind.LINK, "nowhere")
    assert why(host.stat("/dev/davinci1")) is Why.MISSING


def test_list(host: PlainHost) -> None:
    assert host.list("/usr/local/cann*/version.info") == ("/usr/local/cann-8.5.1/version.info", "/usr/local/cann/version.info")
    assert host.list("/dev/davinci[0-9]") == ("/dev/davinci0",)
    assert host.list("/usr/local/cann-8.5.1") == ("/usr/local/cann-8.5.1",)
    assert host.list("/opt/*") == () and host.list("/opt/.h*") == ("/opt/.hidden",)
    assert host.list("/absent/*") == ()


def test_special_files_are_not_opened(host: PlainHost) -> None:
    root = pathlib.Path(host._tree.root)
    os.mkfifo(root / "etc/fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(root / "etc/socket"))
        for name, kind in (("fifo", Kind.FIFO), ("socket", Kind.SOCKET)):
            info = host.stat(f"/etc/{name}")
            assert isinstance(info, FileInfo) and info.kind is kind
            assert why(host.read(f"/etc/{name}")) is Why.DENIED


def test_commands(host: PlainHost) -> None:
    assert out(host.run(["uname", "-r"])).stdout == "5.10.0-216.0.0.115.oe2203sp4.aarch64\n"
    answer = out(host.run(["/usr/local/bin/npu-smi", "info"]))
    assert answer.argv == ("/usr/local/bin/npu-smi", "info") and answer.exit == 0
    assert out(host.run(["lspci", "-Dn", "-d", "19e5:"])).stdout == ""
    crashed = host.run(["/opt/venv/bin/python3", "-c", "import torch, torch_npu; print(torch.npu.device_count())"])
    assert out(crashed).exit == -11
    assert "not permitted" in out(host.run(["dmesg"])).stdout
    assert why(host.run(["npu-smi", "info", "-l"])) is Why.NOT_RECORDED
    assert why(host.run([])) is Why.NOT_RECORDED


def test_a_program_that_was_not_found_is_missing_however_it_is_called(host: PlainHost) -> None:
    assert why(host.run(["hccn_tool", "-i", "0", "-link", "-g"])) is Why.MISSING
    assert why(host.run(["hccn_tool", "-i", "7", "-ip", "-g"])) is Why.MISSING


def test_another_interpreter_is_not_this_one(host: PlainHost) -> None:
    script = "import torch, torch_npu; print(torch.npu.device_count())"
    assert why(host.run(["/usr/bin/python3", "-c", script])) is Why.NOT_RECORDED


def test_environment(host: PlainHost) -> None:
    assert host.environ(0) == {"HOME": "/root", "FUNCTION": "{\n body\n}", "EMPTY": ""}
    assert why(host.environ(4242)) is Why.NOT_RECORDED


def test_processes(host: PlainHost) -> None:
    assert host.processes() == (
        Process(1, 0, "init", ("/sbin/init", "splash"), uid=0),
        Process(2, 0, "kthreadd", (), uid=0),
        Process(4242, 1, "python3", ("/opt/venv/bin/python3", "/opt/venv/bin/vllm", "serve", "--model", "x"), uid=1007),
    )


@pytest.mark.parametrize(
    "listing, process",
    [
        (
            "$ ps -ef\nUID          PID    PPID  C STIME TTY          TIME CMD\nroot          77       1  0 Nov27 ?        00:00:01 sshd: root\n[exit 0]\n",
            Process(77, 1, "sshd", ("sshd:", "root"), uid=0),
        ),
        (
            "$ ps aux\nUSER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n1000 78 0.0 0.1 1 2 ? Ssl Nov27 0:01 /bin/x -y\n[exit 0]\n",
            Process(78, 0, "x", ("/bin/x", "-y"), uid=1000, state="S"),
        ),
    ],
)
def test_other_forms_of_ps(tmp_path: pathlib.Path, listing: str, process: Process) -> None:
    (tmp_path / "commands.txt").write_text(listing)
    assert PlainHost(tmp_path).processes() == (process,)


@pytest.mark.parametrize(
    "command, text",
    [
        ("date", "Sat Nov 28 08:00:00 UTC 2026"), ("date +%s", "1795852800"), ("date -Is", "2026-11-28T16:00:00+08:00"),
        ("date", "Sat Nov 28 16:00:00 CST 2026"), ("date -R", "Sat, 28 Nov 2026 16:00:00 +0800"),
    ],
)  # fmt: skip
def test_now(tmp_path: pathlib.Path, command: str, text: str) -> None:
    (tmp_path / "commands.txt").write_text(f"$ {command}\n{text}\n[exit 0]\n")
    assert PlainHost(tmp_path).now() == datetime(2026, 11, 28, 8, tzinfo=timezone.utc)


def test_nothing_recorded(tmp_path: pathlib.Path) -> None:
    (tmp_path / "commands.txt").write_text("")
    host = PlainHost(tmp_path)
    answers = [
        host.read("/etc/passwd"), host.list("/*"), host.stat("/"), host.resolve("/"), host.run(["env"]), host.environ(0),
        host.processes(), host.listening(), host.boot_id(),
    ]  # fmt: skip
    assert {why(answer) for answer in answers} == {Why.NOT_RECORDED}
    assert host.now().tzinfo is not None


@given(st.text(st.sampled_from("$ []exit0127\n=ab'\"PIDCMD:T-+Z") | st.characters()))
def test_any_transcript(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "commands.txt").write_bytes(("$ ps\nPID CMD\n[exit 0]\n$ date\n" + text).encode("utf-8", "replace"))
    host = PlainHost(folder)
    host.processes(), host.now(), host.environ(0), host.run(["a"])
    parse_env(text)
