"""The one-file recorder: the same findings as the real one, under the oldest Python and the newest, and masked in the same way."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from doctor.bundle.collector.generate import MODULES, script
from doctor.bundle.collector.machine import Machine
from doctor.bundle.collector.recorder import Recorder
from doctor.bundle.opened import open_recorded
from doctor.bundle.seen import SeenHost
from doctor.examine import Selection, examine_host
from doctor.host import RUN_TIMEOUT, Output, Process, Unavailable, Why
from doctor.host.live import LiveHost
from doctor.host.plain import PlainHost
from doctor.host.recorded import RecordedHost
from tests.bundle import canary
from tests.bundle.test_same_findings import Memory, said
from tests.fixture_cases import book, folders

PYENV = Path(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))) / "versions"
WANTED = ("3.6", "3.8", "3.12")


def interpreters() -> list[tuple[str, str]]:
    """(version, interpreter) of those that this machine has."""
    import shutil

    found = []
    for version in WANTED:
        candidates = [*sorted(PYENV.glob(f"{version}.*/bin/python")), *filter(None, [shutil.which(f"python{version}")])]
        for candidate in candidates:
            told = subprocess.run([str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False)
            if told.stdout.strip() == version:
                found.append((version, str(candidate)))
                break
    return found


class FixtureHost(LiveHost):
    """A fixture's files as a mounted root, its commands and environment from its transcript: what the real recorder sees."""

    live = True

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / "files"))
        self.plain = PlainHost(folder)
        self.folder = folder

    @property
    def label(self) -> str:
        return self.folder.name

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        return self.plain.run(argv, timeout, env)

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return self.plain.environ(pid)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return Unavailable("processes", Why.MISSING, "/proc")


class FixtureMachine(Machine):
    """The same for the one file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / "files"))
        self.plain = PlainHost(folder)
        self.folder = folder

    def name(self) -> str:
        return self.folder.name

    def run(self, argv: Sequence[str], timeout: float) -> tuple[int, bytes, bytes, float]:
        answer = self.plain.run(argv)
        if isinstance(answer, Unavailable):
            raise OSError({Why.MISSING: 2, Why.DENIED: 13}.get(answer.why, 61), answer.detail)
        return answer.exit, answer.stdout.encode(), answer.stderr.encode(), 0.0

    def environ(self, pid: int) -> dict[str, str]:
        answer = self.plain.environ(pid)
        if isinstance(answer, Unavailable):
            raise OSError(2, "no such process")
        return dict(answer)


def collected(folder: Path) -> RecordedHost:
    recorder = Recorder(FixtureMachine(folder))
    recorder.record(lambda _: None)
    members, _ = recorder.members("support")
    return RecordedHost(Memory({name: text.encode() for name, text in members}))


@pytest.mark.parametrize("folder", folders("hosts"), ids=lambda folder: folder.name)
def test_the_same_findings_as_the_real_recorder(folder: Path) -> None:
    real = said(examine_host(FixtureHost(folder), book(), Selection()))
    ours = said(examine_host(collected(folder), book(), Selection()))
    assert ours["findings"] == real["findings"] and ours["first"] == real["first"]
    assert {rule: (a, b) for (rule, a), (_, b) in zip(real["verdicts"], ours["verdicts"], strict=True) if a != b} == {}


@pytest.mark.parametrize("folder", folders("hosts"), ids=lambda folder: folder.name)
def test_everything_that_facts_ask_is_on_the_list(folder: Path) -> None:
    """A new question of a fact must be added to `doctor.bundle.collector.reading`."""
    seen = SeenHost(FixtureHost(folder))
    examine_host(seen, book(), Selection())
    host: Any = collected(folder)
    unknown = []
    for each in seen.seen():
        if each.kind in ("read", "list", "stat", "resolve") and not isinstance(each.answer, Unavailable):
            answer = getattr(host, each.kind)(*each.arguments)
            if isinstance(answer, Unavailable):
                unknown.append((each.kind, each.arguments[0], str(answer)))
        elif each.kind == "run" and not isinstance(each.answer, Unavailable) and isinstance(host.run(each.arguments[0]), Unavailable):
            unknown.append((each.kind, " ".join(each.arguments[0]), ""))
    assert not unknown


def test_it_is_one_file_for_python_3_6() -> None:
    text = script()
    ast.parse(text, feature_version=(3, 7))  # the oldest grammar that this parser knows; test_under_old_interpreters runs it
    assert all(f"\n_module({name!r}," in text for name in MODULES)
    assert "import doctor" not in text.split("_module(", 1)[0] and len(text) < 200_000
    assert text == script(), "the same each time"


@pytest.mark.parametrize("version", WANTED)
def test_under_old_interpreters(version: str, tmp_path: Path) -> None:
    """This very machine, recorded by the one file under another Python, then judged here."""
    found = dict(interpreters())
    if version not in found:
        pytest.skip(f"no Python {version} here")
    path = tmp_path / "collect.py"
    path.write_text(script(), encoding="utf-8")
    done = subprocess.run([found[version], "-I", str(path), str(tmp_path / "host.tar.gz")], cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    assert "masked:" in done.stdout and (tmp_path / "host.tar.gz").stat().st_mode & 0o777 == 0o600
    opened = open_recorded(tmp_path / "host.tar.gz")
    assert opened.host is not None and opened.kind == "bundle"
    import platform

    system = opened.host.run(["uname", "-r"])
    assert isinstance(system, Output) and system.stdout.strip() == platform.release()
    swappiness = opened.host.read("/proc/sys/vm/swappiness")
    assert swappiness == LiveHost().read("/proc/sys/vm/swappiness")
    assert isinstance(opened.host.processes(), tuple)
    report = json.loads(subprocess.run([sys.executable, "-m", "doctor", "check", "--from", "host.tar.gz", "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False).stdout)
    assert report["summary"]["broken"] == 0 and report["summary"]["clear"] > 20


def test_it_masks_as_the_bundle_does(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "host"
    shutil.copytree(folders("hosts")[2], folder, symlinks=True)
    files = folder / "files"
    (files / "home/wangxiaoming").mkdir(parents=True)
    (files / "home/wangxiaoming/run.sh").write_text("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\ncurl http://10.23.45.67/\nDB_PASSWORD=correct-horse-7\n")
    (files / "root").mkdir(exist_ok=True)
    (files / "root/again.sh").write_text("echo correct-horse-7 | base64\n")
    recorder = Recorder(FixtureMachine(folder))
    recorder.record(lambda _: None)
    members, masked = recorder.members("support")
    everything = "".join(name + text for name, text in members)
    for secret in ("wangxiaoming", "hf_abcdef", "10.23.45.67", "correct-horse-7"):
        assert secret not in everything
    assert masked["secret"] >= 3 and masked["address"] >= 1
    raw, _ = recorder.members("raw")
    assert "correct-horse-7" in "".join(text for _, text in raw)


def test_the_logs_that_the_list_names_come_along_masked(tmp_path: Path) -> None:
    """The kernel's, the devices' and CANN's, wherever they lie; not what other daemons write; the secrets of `canary` in none."""
    folder = tmp_path / "host"
    _write_logs(folder)
    recorder = Recorder(FixtureMachine(folder))
    recorder.record(lambda _: None)
    members, _ = recorder.members("support")
    logs = {json.loads(dict(members)["manifest.json"])["bundle"]["logs"][name]: text for name, text in members if name.startswith("logs/")}
    assert "dmesg" in logs and "/var/log/npu/slog/debug/device-os/device-os_1.log" in logs and "/var/log/ascend_seclog/ascend_install.log" in logs
    assert sum("/ascend/log/debug/plog/" in label for label in logs) == 6, "the newest of each place"
    assert not any("messages" in label or "security" in label for label in logs)
    everything = "".join(name + text for name, text in members).encode()
    assert b"HCCP(7,hccp)" in everything
    assert not [each.kind for each in (*canary.KERNEL, *canary.PLOG) if any(form in everything for form in canary.encodings(each.secret))]


def _write_logs(folder: Path) -> None:
    kernel = "".join(each.text.format(each.secret) + "\n" for each in canary.KERNEL)
    home = folder / "files" / "home/wangxiaoming/ascend/log"
    home.mkdir(parents=True)
    (folder / "commands.txt").write_text(f"$ dmesg -T\n{kernel}[exit 0]\n")
    for each in canary.PLOG:
        (home / each.source).parent.mkdir(parents=True, exist_ok=True)
        with (home / each.source).open("a") as file:
            file.write(each.text.format(each.secret) + "\n")
    for number in range(9):
        path = home / f"debug/plog/plog-{number}.log"
        path.write_text("old\n")
        os.utime(path, (1e9 + number, 1e9 + number))
    for name in ("npu/slog/debug/device-os/device-os_1.log", "npu/slog/security/device-os/device-os_1.log", "messages", "ascend_seclog/ascend_install.log"):
        path = folder / "files/var/log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[INFO] a line of the device\n")
    etc = folder / "files/etc"
    etc.mkdir()
    (etc / "passwd").write_text("wangxiaoming:x:1001:1001::/home/wangxiaoming:/bin/bash\n")


def test_of_a_long_log_the_first_error_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "files/root/ascend/log/run/plog/plog-1.log"
    path.parent.mkdir(parents=True)
    quiet = "[INFO] GE(42,python) nothing to see\n" * 60_000
    path.write_text(quiet + "[ERROR] RUNTIME(42,python) the first of all\n" + quiet + "the very last\n")
    recorder = Recorder(FixtureMachine(tmp_path))
    recorder.record(lambda _: None)
    ((label, text),) = recorder.logs
    assert label == "/root/ascend/log/run/plog/plog-1.log" and len(text) < 1.1 * 2**20 and text.count("left out here") == 2
    assert text.startswith("[INFO]") and "the first of all" in text and text.endswith("the very last\n")


def test_nothing_is_written_where_masking_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from doctor.bundle.collector import recorder
    from doctor.bundle.redact import Redactor

    def broken(self: Redactor, text: str) -> str:
        raise RuntimeError

    monkeypatch.setattr(Redactor, "_addresses", broken)
    monkeypatch.setattr(recorder.Recorder, "record", lambda self, said: None)
    assert recorder.main([str(tmp_path / "x.tar.gz")]) == 3
    assert not os.listdir(tmp_path) and "nothing was written" in capsys.readouterr().err
