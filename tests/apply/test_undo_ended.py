"""After an ended process, undo says plainly that it does not come back, and what it was started with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from doctor.apply.endchange import EndChange, ticks_and_state
from doctor.apply.engine import Site
from doctor.apply.journal import Journal, MadeChange, Transaction, change_data
from doctor.apply.making import Applied, Judged, Outcome, Verification, make_fix, new_ident
from doctor.apply.plan import FixPlan, StepPlan
from doctor.apply.putback import lost
from doctor.apply.rootfiles import RootFiles
from doctor.apply.statefolder import StateFolder, state_path
from doctor.cli import run
from doctor.fix import EndProcesses, Safety
from doctor.words import Words
from tests.apply.grounds import ground
from tests.apply.trees import make_root, site_of

ARGV = ("python3", "serve it.py", "--port", "8000")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline()
    yield child
    child.kill()
    child.communicate()


def ended(pid: int) -> EndChange:
    found = ticks_and_state(Path(f"/proc/{pid}/stat").read_text())
    assert found is not None
    return EndChange(pid, found[0], 0, "python3", ARGV, 30.0)


def applied(root: Path, judged: Judged, *changes: EndChange) -> Applied:
    """A fix that makes the changes, journaled below the root as doctor does."""
    words = Words("x", "x")
    step = StepPlan("end", EndProcesses("port"), words, changes)
    fix = FixPlan("hang-x", "end", "", words, words, Safety.ASK, (step,))
    site: Site = site_of(root)
    state = StateFolder(RootFiles(str(root)), state_path(str(root), site.euid, site.environ))
    try:
        return make_fix(fix, Journal(state), replace(ground(root.parent / "kept"), transaction=new_ident()), {}, lambda _: Verification(judged), lambda _: None)
    finally:
        state.close()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(list(words)) == 0
    return capsys.readouterr().out


def test_undo_says_that_it_does_not_come_back(tmp_path: Path, sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    root = make_root(tmp_path / "root")
    assert applied(root, Judged.CLEAR, ended(sleeper.pid)).outcome is Outcome.FIXED
    text = said(capsys, "undo", "--root", str(root), "--lang", "en")
    assert f"process {sleeper.pid} (python3) was ended and cannot be brought back. It was started with:\n  python3 'serve it.py' --port 8000\n" in text
    assert "as before" not in text and "left alone" not in text and "nothing to put back" in text


def test_in_json(tmp_path: Path, sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    root = make_root(tmp_path / "root")
    applied(root, Judged.CLEAR, ended(sleeper.pid))
    told = json.loads(said(capsys, "undo", "--root", str(root), "--json"))["undo"]
    assert told["put_back"] == [] and told["gone"] == [{"subject": f"process {sleeper.pid} (python3)", "argv": list(ARGV)}]


def test_in_chinese(tmp_path: Path, sleeper: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    root = make_root(tmp_path / "root")
    applied(root, Judged.CLEAR, ended(sleeper.pid))
    text = said(capsys, "undo", "--root", str(root), "--lang", "zh")
    assert "无法恢复" in text and "python3 'serve it.py' --port 8000" in text


def test_a_fix_that_did_not_help_says_what_it_has_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    done = applied(make_root(tmp_path / "root"), Judged.FOUND, ended(sleeper.pid))
    assert done.outcome is Outcome.ROLLED_BACK and f"not to be brought back: process {sleeper.pid} (python3)" in done.why


def test_a_process_that_still_runs_was_not_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    change = ended(sleeper.pid)
    made = MadeChange(1, "end", change_data(change), {})
    assert list(lost(Transaction("t", "now", {}, [made]), ground(tmp_path / "kept"))) == []
    sleeper.kill()
    sleeper.wait()
    assert [each.argv for each in lost(Transaction("t", "now", {}, [made]), ground(tmp_path / "kept"))] == [ARGV]
