"""A log that no rule explains still gets an answer: its first error, the codes beside it, and where to look next."""

from __future__ import annotations

import json
import subprocess
import sys

LOG = "INFO start\nTraceback (most recent call last):\nmy.package.WidgetError: the widget is bent\nruntime result = 107000\n"


def run(*options: str) -> str:
    argv = [sys.executable, "-m", "doctor", "log", "-", "--only", "graph", *options]
    return subprocess.run(argv, input=LOG, capture_output=True, text=True, timeout=60, check=False).stdout


def test_text() -> None:
    said = run()
    assert "standard input:3  my.package.WidgetError: the widget is bent" in said
    assert "107000: " in said and "plog" in said
    assert "Nothing found" not in said


def test_json() -> None:
    error = json.loads(run("--json"))["first_error"]
    assert (error["type"], error["evidence"]["line"], error["others"]) == ("my.package.WidgetError", 3, 1)
    assert [code["code"] for code in error["codes"]] == ["107000"]


def test_an_engine_that_merely_died_is_no_answer() -> None:
    """The symptom is told, and the error before it that no rule knows."""
    log = LOG + "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
    argv = [sys.executable, "-m", "doctor", "log", "-", "--only", "serving"]
    told = subprocess.run(argv, input=log, capture_output=True, text=True, timeout=60, check=False).stdout
    assert "serving-engine-core-died" in told and "standard input:3  my.package.WidgetError: the widget is bent" in told
