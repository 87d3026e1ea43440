"""A replay answers exactly what was answered, refusals included, and believes nothing that a snapshot says about names."""

from __future__ import annotations

import json
import os
import pathlib
import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Kind, Listener, Output, Process, Unavailable, Why
from doctor.host.plain import PlainHost
from doctor.host.recorded import NotAHost, RecordedHost, open_host
from doctor.host.recording import FolderNotEmptyError, RecordingHost

PATHS = ("/etc/os-release", "/etc/os-release/below", "/etc", "/../../escape", "/a/../b", "/new\nline", "/long/" + "x" * 300, "/\ud800", "", "rel", "/.hashed/x")


class FakeHost:
    """Answers everything with something that tells the question."""

    label = "node-7"
    live = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        self.asked.append(path)
        return f"{path!r}: 驱动\n"[:limit] if path != "/denied" else Unavailable(path, Why.DENIED, "not a regular file")

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return bytes(range(256))[offset : offset + limit] if path != "/denied" else Unavailable(path, Why.DENIED, "not a regular file")

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return () if "none" in glob else (glob + "/a", glob + "/b") if "big" not in glob else Unavailable(glob, Why.TOO_BIG, "more")

    def stat(self, path: str) -> FileInfo | Unavailable:
        if path == "/whole":
            return FileInfo(path, Kind.FILE, 20)
        return FileInfo(path, Kind.CHAR_DEVICE, 0, 0o660, 0, 7, 12.123456789, "x") if path != "/gone" else Unavailable(path, Why.MISSING)

    def resolve(self, path: str) -> str | Unavailable:
        return path + "/real" if path != "/gone" else Unavailable(path, Why.MISSING)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        if argv and argv[0] == "slow":
            return Unavailable("slow", Why.TIMED_OUT, "10 s")
        return Output(tuple(argv), -11, f"out {env}\n", "err\n", 0.12345, True)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return (Process(1, 0, "init"), Process(7, 1, "vllm", ("vllm", "serve"), "/opt/venv/bin/python3", 1000, "S", 1.5, "/root"))

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return {"B": "1", "A": "x\ny"} if pid == 0 else Unavailable(f"environment of process {pid}", Why.DENIED)

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return (Listener("::", 8000, 7), Listener("127.0.0.1", 22))

    def now(self) -> datetime:
        return datetime(2026, 11, 28, 8, 0, 0, 123456, timezone.utc)

    def boot_id(self) -> str | Unavailable:
        return "1c1d"


QUESTIONS: list[Callable[[Host], Any]] = [
    *[lambda host, path=path: host.read(path) for path in (*PATHS, "/denied")],
    lambda host: host.read("/etc/os-release", limit=5),
    lambda host: host.read("/etc/os-release", limit=5, tail=True),
    *[lambda host, path=path: host.read_raw(path, 8) for path in (*PATHS, "/denied")],
    lambda host: host.read_raw("/model/a.safetensors", 200, 8),
    lambda host: host.read_raw("/model/a.safetensors", 100, 200),
    *[lambda host, glob=glob: host.list(glob) for glob in ("/dev/davinci*", "/none*", "/big*")],
    *[lambda host, path=path: host.stat(path) for path in ("/dev/davinci0", "/gone")],
    *[lambda host, path=path: host.resolve(path) for path in ("/usr", "/gone")],
    lambda host: host.run(["npu-smi", "info"]),
    lambda host: host.run(["/usr/local/bin/npu-smi", "info"]),
    lambda host: host.run(["npu-smi", "info"], env={"LD_LIBRARY_PATH": "/x"}),
    lambda host: host.run(["npu-smi info"]),
    lambda host: host.run(["../../../../tmp/x"]),
    lambda host: host.run(["slow"]),
    lambda host: host.run([]),
    lambda host: host.processes(),
    lambda host: host.environ(0),
    lambda host: host.environ(7),
    lambda host: host.listening(),
    lambda host: host.now(),
    lambda host: host.boot_id(),
]


def test_replay_is_exact(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "snapshot"
    recording = RecordingHost(FakeHost(), folder)
    expected = [question(FakeHost()) for question in QUESTIONS]
    assert [question(recording) for question in QUESTIONS] == expected
    assert recording.problem == ""
    replay = open_host(folder)
    assert isinstance(replay, RecordedHost)
    assert [question(replay) for question in QUESTIONS] == expected
    assert (replay.label, replay.live) == ("node-7", False)


def test_what_was_not_asked_was_not_recorded(tmp_path: pathlib.Path) -> None:
    RecordingHost(FakeHost(), tmp_path)
    replay = RecordedHost(tmp_path)
    for question in QUESTIONS:
        answer = question(replay)
        assert answer == FakeHost().now() or (isinstance(answer, Unavailable) and answer.why is Why.NOT_RECORDED)


def test_nothing_leaves_the_folder_and_nobody_else_may_read_it(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "deep" / "snapshot"
    recording = RecordingHost(FakeHost(), folder)
    for question in QUESTIONS:
        question(recording)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["snapshot"]
    for path in (folder, *folder.rglob("*")):
        assert not path.is_symlink()
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert (folder / "files/etc/os-release").read_text() == "'/etc/os-release': 驱动\n"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["schema_version"] == 1 and manifest["host"] == "node-7" and manifest["tool"].startswith("ascend-doctor ")
    commands = {path.name.rpartition("-")[0] for path in (folder / "commands").iterdir()}
    assert {"npu-smi-info", "x", "command"} <= commands


def test_a_question_is_put_once(tmp_path: pathlib.Path) -> None:
    host = FakeHost()
    recording = RecordingHost(host, tmp_path)
    recording.read("/a"), recording.read("/a"), recording.read("/b")
    assert host.asked == ["/a", "/b"]


def test_a_whole_file_answers_for_other_limits(tmp_path: pathlib.Path) -> None:
    recording = RecordingHost(FakeHost(), tmp_path)
    whole = recording.read("/whole")
    recording.read("/part")
    replay = RecordedHost(tmp_path)
    assert isinstance(whole, str)
    assert replay.read("/whole", limit=3) == whole[:3]
    assert replay.read("/whole", limit=1, tail=True) == "\n"
    answer = replay.read("/part", limit=3)
    assert isinstance(answer, Unavailable) and answer.why is Why.NOT_RECORDED


def test_a_folder_with_something_in_it_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(FolderNotEmptyError, match="name a new folder"):
        RecordingHost(FakeHost(), tmp_path)


def test_a_recording_that_cannot_be_written_goes_on_and_says_so(tmp_path: pathlib.Path) -> None:
    recording = RecordingHost(FakeHost(), tmp_path)
    (tmp_path / "records.jsonl").unlink()
    assert recording.boot_id() == "1c1d"
    assert "could not be written" in recording.problem


def test_open_host(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NotAHost, match="neither"):
        open_host(tmp_path)
    with pytest.raises(NotAHost, match="not a folder"):
        open_host(tmp_path / "absent")
    (tmp_path / "commands.txt").touch()
    assert isinstance(open_host(tmp_path), PlainHost)
    for bad in ("", "[]", "{}", '{"schema_version": "1"}', "[" * 100_000):
        (tmp_path / "manifest.json").write_text(bad)
        with pytest.raises(NotAHost, match="record it anew"):
            open_host(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema_version": 99, "tool": "ascend-doctor 9"}')
    with pytest.raises(NotAHost, match="update doctor"):
        open_host(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema_version": 1}')
    assert isinstance(open_host(tmp_path), RecordedHost)


def snapshot(folder: pathlib.Path, *records: object) -> RecordedHost:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text('{"schema_version": 1, "host": "evil\\u001b[31m"}')
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return RecordedHost(folder)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "files/../../secret", "link", "folder/secret", "fifo", ".", "", 7, None, "\0"])
def test_a_hostile_snapshot_reads_nothing_outside(tmp_path: pathlib.Path, name: object) -> None:
    (tmp_path / "secret").write_text("secret")
    host = snapshot(tmp_path / "s", {"question": ["read", "/x", READ_LIMIT, False], "answer": {"file": name}})
    (tmp_path / "s/link").symlink_to(tmp_path / "secret")
    (tmp_path / "s/folder").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "s/fifo")
    answer = host.read("/x")
    assert isinstance(answer, Unavailable) and answer.why is Why.NOT_RECORDED
    assert host.label == "evil"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["missing", "file", "processes.json"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["file", "paths", "info", "text", "unavailable", "command", "listeners", "what", "why", "kind"]), inner),
    max_leaves=8,
)


@given(answer=JSON, whole=JSON)
def test_a_damaged_snapshot_never_raises(tmp_path_factory: pytest.TempPathFactory, answer: object, whole: object) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    asked: list[list[object]] = [
        ["read", "/x", READ_LIMIT, False], ["list", "/x"], ["stat", "/x"], ["resolve", "/x"], ["run", ["x"], []], ["processes"],
        ["environ", 0], ["listening"], ["now"], ["boot_id"],
    ]  # fmt: skip
    (folder / "processes.json").write_text(json.dumps(whole))
    host = snapshot(folder, answer, *({"question": each, "answer": kept} for each in asked for kept in (answer,)))
    host.read("/x"), host.read("/x", 1), host.list("/x"), host.stat("/x"), host.resolve("/x"), host.run(["x"]), host.processes()
    host.environ(0), host.listening(), host.now(), host.boot_id()


def test_a_torn_record_is_left_out(tmp_path: pathlib.Path) -> None:
    recording = RecordingHost(FakeHost(), tmp_path)
    recording.boot_id(), recording.stat("/x")
    records = (tmp_path / "records.jsonl").read_bytes()
    (tmp_path / "records.jsonl").write_bytes(records[:-20])
    replay = RecordedHost(tmp_path)
    assert replay.boot_id() == "1c1d" and isinstance(replay.stat("/x"), Unavailable)
