"""`doctor watch` as a user runs it: small real programs that leak or do not, in the foreground, recorded, in the background."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import mmap, sys, tempfile, threading, time
mode, kept = sys.argv[1], []
base = bytearray(20_000_000)
saw, files = [], []
for step in range(100_000):
    if mode == "leak":
        kept.append(bytearray(400_000))
    elif mode == "plateau" and step < 15:
        kept.append(bytearray(400_000))
    elif mode == "sawtooth":
        saw.append(bytearray(400_000))
        if len(saw) > 20:
            saw.clear()
    elif mode == "files":
        files.append(open("/dev/null"))
        files.append(open("/dev/null"))
    elif mode == "shared":
        memory = mmap.mmap(-1, 400_000)
        memory.write(b"x" * 400_000)
        kept.append(memory)
    elif mode == "threads":
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    time.sleep(0.1)
"""


@contextmanager
def running(mode: str) -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, mode])
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


def command(*arguments: str, state: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "LC_ALL": "C.UTF-8"}
    return subprocess.run([sys.executable, "-m", "doctor", "watch", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180)


def doctor(*arguments: str, state: Path, code: int | None = 0) -> str:
    done = command(*arguments, state=state)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done.stdout


MODES = ("leak", "plateau", "sawtooth", "files", "shared", "threads")
SECONDS = 28


@dataclass(frozen=True)
class Watched:
    """One watch of all programs at once: its JSON, its exit code, its sample file."""

    record: dict[str, Any]
    code: int
    samples: Path
    pids: dict[str, int]

    def verdicts(self, mode: str) -> dict[str, str]:
        """Verdict by quantity of one program."""
        rows = ((group["quantity"], process) for group in self.record["classes"] for process in group["processes"])
        return {quantity: process["verdict"] for quantity, process in rows if process["pid"] == self.pids[mode]}


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("watch")
    with ExitStack() as stack:
        pids = {mode: stack.enter_context(running(mode)) for mode in MODES}
        chosen = [word for pid in pids.values() for word in ("--pid", str(pid))]
        done = command(*chosen, "--every", "1s", "--for", f"{SECONDS}s", "--samples", str(folder / "s.ndjson"), "--json", "--npu-every", "0", "--fail-on", "warn", state=folder)
    return Watched(json.loads(done.stdout)["watch"], done.returncode, folder / "s.ndjson", pids)


def test_a_program_that_leaks(watch: Watched) -> None:
    assert watch.verdicts("leak")["private"] in ("leak", "critical")
    assert watch.code == 1


@pytest.mark.parametrize("mode", ["plateau", "sawtooth"])
def test_programs_that_do_not_leak(mode: str, watch: Watched) -> None:
    assert set(watch.verdicts(mode).values()) == {"no leak"}


@pytest.mark.parametrize(("mode", "quantity"), [("files", "fds"), ("shared", "shmem"), ("threads", "threads")])
def test_other_leaks(mode: str, quantity: str, watch: Watched) -> None:
    assert watch.verdicts(mode)[quantity] in ("leak", "critical")


def test_a_recorded_watch_in_every_face(watch: Watched, tmp_path: Path) -> None:
    recorded = ("--from", str(watch.samples), "--warmup", "3s", "--least", "18s")
    stream = doctor(*recorded, "--stream", "--fail-on", "never", state=tmp_path)
    kinds = [json.loads(line)["type"] for line in stream.splitlines()]
    assert kinds.count("sample") == watch.record["samples"] and "verdict" in kinds and kinds[-1] == "result"
    picture, metrics = tmp_path / "p.svg", tmp_path / "m.prom"
    text = doctor(*recorded, "--svg", str(picture), "--textfile", str(metrics), "--fail-on", "never", state=tmp_path)
    assert "grows by" in text.splitlines()[0]
    assert picture.read_text().startswith("<svg") and "ascend_doctor_watch_verdict" in metrics.read_text()
    assert "增长" in doctor(*recorded, "--lang", "zh", "--fail-on", "never", state=tmp_path)
    doctor(*recorded, "--fail-on", "warn", state=tmp_path, code=1)


def test_in_the_background(tmp_path: Path) -> None:
    with running("leak") as pid:
        begun = doctor("--start", "--pid", str(pid), "--every", "1s", "--npu-every", "0", "--samples", str(tmp_path / "b.ndjson"), state=tmp_path)
        assert "--stop" in begun
        record = json.loads((tmp_path / "ascend-doctor" / "watch" / "watch.pid").read_text())
        try:
            doctor("--start", "--pid", str(pid), state=tmp_path, code=2)  # one at a time
            assert "python" in doctor("--status", state=tmp_path, code=None)
            assert "samples" in doctor("--stop", state=tmp_path, code=None)
        finally:
            if Path(f"/proc/{record['pid']}/cmdline").exists() and "watch" in Path(f"/proc/{record['pid']}/cmdline").read_text():
                os.kill(record["pid"], signal.SIGTERM)
    doctor("--status", state=tmp_path, code=2)


def test_what_was_asked_wrongly(tmp_path: Path) -> None:
    doctor("--every", "0.5s", "--pid", str(os.getpid()), state=tmp_path, code=2)
    doctor("--for", "soon", state=tmp_path, code=2)
    doctor("--pid", "999999999", state=tmp_path, code=2)
    doctor("--from", str(tmp_path / "nothing"), state=tmp_path, code=2)
    (tmp_path / "empty").write_text("hello\n")
    doctor("--from", str(tmp_path / "empty"), state=tmp_path, code=2)


def test_a_unit_for_systemd(tmp_path: Path) -> None:
    text = doctor("--systemd", "--url", "http://127.0.0.1:8000", state=tmp_path)
    assert "[Service]" in text and '"--url" "http://127.0.0.1:8000"' in text and "--wait" in text


def test_outputs_of_tools(tmp_path: Path) -> None:
    lost = ROOT / "fixtures" / "watch" / "valgrind_lost.txt"
    assert "12 KiB in 3 blocks" in doctor(str(lost), state=tmp_path)
    record = json.loads(doctor(str(lost), "--json", state=tmp_path))["watch"]["tools"][0]
    assert record["tool"] == "memcheck" and record["places"][0]["blocks"] == 3
    doctor(str(ROOT / "README.md"), state=tmp_path, code=2)


def test_the_json_follows_the_published_schema(watch: Watched, tmp_path: Path) -> None:
    import jsonschema

    schema = json.loads((ROOT / "doctor" / "report" / "report.schema.json").read_text())
    for words in (("--from", str(watch.samples)), (str(ROOT / "fixtures" / "watch" / "valgrind_lost.xml"),)):
        jsonschema.validate(json.loads(doctor(*words, "--json", "--fail-on", "never", state=tmp_path)), schema)
