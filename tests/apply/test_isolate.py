"""Root's doctor changes nothing under the influence of its environment or of the folder it is started in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from doctor.apply.isolate import others_can_change, wanted
from tests.apply.trees import make_root

TOP = Path(__file__).parents[2]
NOSY = "import os, pathlib\npathlib.Path(os.environ['MARK']).touch()\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's doctor is not isolated")
def test_modules_of_the_current_folder_and_of_pythonpath_are_not_loaded(tmp_path: Path) -> None:
    if others_can_change(str(TOP / "doctor"), {}) or others_can_change(os.path.realpath(sys.executable), {}):
        pytest.skip("this checkout can be changed by others")
    here, mark = tmp_path / "here", tmp_path / "mark"
    here.mkdir()
    for name in ("yaml", "click", "psutil"):
        (here / f"{name}.py").write_text(NOSY)
    root = make_root(tmp_path / "root")
    code = "import sys; sys.path.append(sys.argv.pop(1)); from doctor.cli import main; main()"
    argv = [sys.executable, "-c", code, str(TOP), "undo", "--root", str(root), "--json"]
    env = {**os.environ, "PYTHONPATH": str(here), "MARK": str(mark), "LD_LIBRARY_PATH": str(here)}
    ran = subprocess.run(argv, cwd=here, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["undo"] == {"transaction": None, "put_back": [], "left": []} and not mark.exists()


def test_only_what_changes_a_machine_is_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "flags", SimpleNamespace(isolated=0))  # the tests themselves may run isolated
    assert wanted(["fix", "x", "--apply"]) and wanted(["undo"])
    assert not wanted(["fix", "x"]) and not wanted(["check"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not wanted(["undo"])


def test_a_doctor_that_everybody_may_change_is_refused(tmp_path: Path) -> None:
    (tmp_path / "doctor").mkdir()
    os.chmod(tmp_path, 0o777)
    assert others_can_change(str(tmp_path / "doctor"), {"SUDO_UID": str(os.geteuid())}) == str(tmp_path)
