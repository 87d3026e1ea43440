"""Follows docs/add-a-cause.md to the letter, in a copy of the project: the page must make a rule that works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "add-a-cause.md").read_text(encoding="utf-8")
RULE = "operator-frobnicate-width"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the files that the page tells to write."""
    copy = tmp_path_factory.mktemp("contributor") / "ascend-doctor"
    copy.mkdir()
    for name in ("doctor", "rules", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "fixtures").mkdir()
    for path, content in re.findall(r"```yaml\n# ((?:rules|fixtures)/\S+)\n(.*?)```", PAGE, re.DOTALL):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(content, encoding="utf-8")
    return copy


def run(project: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(project), "XDG_CACHE_HOME": str(project / "cache"), "LC_ALL": "C.UTF-8"}
    return subprocess.run([sys.executable, *argv], cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False)


def commands() -> list[str]:
    block = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert block
    return block[1].strip().splitlines()


def test_the_page_names_what_this_test_runs() -> None:
    assert commands() == [
        f".venv/bin/python -m pytest -q tests/test_fixtures.py -k {RULE}",
        f".venv/bin/doctor explain {RULE}",
        f".venv/bin/doctor explain {RULE} --lang zh",
    ]


def test_the_cases_pass(project: Path) -> None:
    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_fixtures.py", "-k", RULE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b4 passed", done.stdout), done.stdout


@pytest.mark.parametrize(("language", "words"), [("en", "does not take rows wider"), ("zh", "不支持宽度超过")])
def test_the_page_of_the_rule_is_there(project: Path, language: str, words: str) -> None:
    done = run(project, "-m", "doctor", "explain", RULE, "--lang", language)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


def test_a_log_gets_its_cause_with_the_values_filled_in(project: Path) -> None:
    log = project / "serve.log"
    log.write_text("(Worker_TP0 pid=9) ERROR RuntimeError: frobnicate: row width 12288 exceeds the tiling limit\n", encoding="utf-8")
    done = run(project, "-m", "doctor", "log", str(log), "--only", RULE)
    assert done.returncode == 1, done.stderr
    assert "The model asks for 12288" in done.stdout
