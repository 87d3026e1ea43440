"""This very machine, looked at live and recorded, then judged again from the recording: the same verdicts, negative answers included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run(folder: Path, *argv: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "doctor", *argv, "--json"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stdout[-2000:] + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("live")
    return run(folder, "record", "snapshot"), run(folder, "check", "--from", "snapshot")


def test_the_verdicts_are_the_same(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    live, replayed = ({verdict["rule"]: (verdict["outcome"], verdict["why"]) for verdict in report["verdicts"]} for report in reports)
    assert len(live) > 100
    assert {rule: (live[rule], replayed[rule]) for rule in live if live[rule] != replayed[rule]} == {}


def test_the_causes_and_the_machine_are_the_same(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    live, replayed = reports
    assert live["causes"] == replayed["causes"]
    assert {**live["host"], "label": ""} == {**replayed["host"], "label": ""}


def test_something_was_looked_at(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    summary = reports[0]["summary"]
    assert summary["clear"] + summary["found"] > 0 and summary["broken"] == 0
