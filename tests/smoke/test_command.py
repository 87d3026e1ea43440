"""`doctor smoke` on the command line: refusals, the plan, JSON in every case, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from doctor.report import schema
from tests.smoke.driving import smoke

validator = pytest.importorskip("jsonschema")


def doctor(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, "LC_ALL": "C.UTF-8", **(env or {})}
    return subprocess.run([sys.executable, "-m", "doctor", "smoke", *arguments], capture_output=True, text=True, timeout=300, env=whole, check=False)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--cards", "a"], "--cards takes numbers"), (["--cards", "0,0"], "each once"), (["--url", "ftp://x"], "no address of a server"),
        (["--url", "http://me:secret@host"], "no address of a server"), (["--python", "/nowhere"], "no program that can be run"),
        (["--", "--dtype", "float16"], "--model PATH"), (["--model", "/m", "--", "--api-key", "abcdefgh"], "can be seen by everyone"),
        (["--key-env", "NOT_SET_ANYWHERE"], "cannot be read"), (["--key-file", "/nowhere"], "cannot be read"), (["--level", "4"], "range"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_refused_with_the_remedy(arguments: Sequence[str], says: str) -> None:
    done = doctor(*arguments)
    assert done.returncode == 2 and says in done.stderr and done.stdout == ""


def test_the_plan_says_what_it_occupies_and_starts_nothing() -> None:
    done = doctor("--plan", "--device", "cpu", "--python", sys.executable, "--level", "3")
    assert done.returncode == 0 and "at the most" in done.stdout and "of host memory" in done.stdout


def test_the_plan_is_told_before_it_is_done(tmp_path: Path) -> None:
    done = doctor("--level", "1", "--device", "cpu", "--python", sys.executable)
    assert "at the most; ctrl+c ends it at once" in done.stderr and "at the most" not in done.stdout


def test_an_interpreter_without_torch_fails_in_its_first_step_with_the_cause() -> None:
    code, answer = smoke("--level", "1", "--device", "cpu", "--python", sys.executable)
    validator.validate(answer, json.loads(schema.text()))
    told = answer["smoke"]
    assert code == 1 == answer["run"]["exit_code"] and told["leftovers"]["clean"]
    device = told["steps"][0]
    assert (device["state"], device["how"], device["stage"]) == ("failed", "failed", "import torch")
    assert "No module named 'torch'" in device["output"]
    assert [step["state"] for step in told["steps"][1:]] == ["skipped"] * 5 and all(step["reason"] for step in told["steps"][1:])


def test_a_wrong_interpreter_is_told_in_one_sentence() -> None:
    done = doctor("--level", "1", "--device", "cpu", "--python", sys.executable)
    assert "There is no torch in this interpreter" in done.stdout and "Traceback" not in done.stdout


def test_the_plan_as_json() -> None:
    code, answer = smoke("--plan", "--device", "cpu", "--python", sys.executable)
    validator.validate(answer, json.loads(schema.text()))
    assert code == 0 and [step["step"] for step in answer["smoke"]["plan"]["steps"]] == ["device", "operators", "cards", "engine", "model", "server"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_with_130_and_cleans_up(tmp_path: Path, sign: signal.Signals) -> None:
    """The target's interpreter here is a script that hangs for ever."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\ntrap '' TERM INT\nsleep 600 & wait\nsleep 600\n")
    python.chmod(0o755)
    running = subprocess.Popen(
        [sys.executable, "-m", "doctor", "smoke", "--level", "1", "--device", "cpu", "--python", str(python), "--json", "-v", "--timeout-scale", "20"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    while not list(tmp_path.glob("ascend-doctor-smoke-*/device/job.json")):
        assert running.poll() is None
    running.send_signal(sign)
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 130
    told = json.loads(out)["smoke"]
    assert told["steps"][0]["state"] == "stopped" and told["leftovers"]["clean"]
    assert list(tmp_path.glob("ascend-doctor-smoke-*")) == []


def test_the_report_to_send_back() -> None:
    done = doctor("--report", "--level", "1", "--device", "cpu", "--python", sys.executable, "-q")
    assert "Report of a smoke test" in done.stdout and "ascend-doctor:" in done.stdout and "level 1" in done.stdout
    assert str(Path.home()) not in done.stdout or str(Path.home()) == "/"


def test_the_newest_result_is_kept_and_goes_into_a_bundle(state: Path) -> None:
    done = doctor("--level", "1", "--device", "cpu", "--python", sys.executable, "--json")
    kept = state / "ascend-doctor" / "smoke" / "newest.json"
    assert json.loads(kept.read_text(encoding="utf-8")) == json.loads(done.stdout)["smoke"]
    assert kept.stat().st_mode & 0o777 == 0o600
    preview = subprocess.run([sys.executable, "-m", "doctor", "bundle", "--dry-run", "--json"], capture_output=True, text=True, timeout=300, check=False)
    assert '"smoke:newest"' in preview.stdout, preview.stderr


def test_where_nothing_can_be_kept_the_test_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = doctor("--level", "1", "--device", "cpu", "--python", sys.executable, "--json", env={"XDG_STATE_HOME": str(tmp_path / "file")})
    assert json.loads(done.stdout)["smoke"]
