"""`doctor diff` of one machine at two times: fault codes and memory errors that are new; nothing of two machines or of what was there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.bundle.test_commands import A2, json_of, run

HEALTH = "$ npu-smi info -t health -i 3 -c 0\n\tHealth Status                  : OK\n\tError Code                     : NA\n"


def look(folder: Path, name: str, day: int, code: str = "NA") -> str:
    """A recording of the machine `name` on that day of November."""
    place = folder / str(day) / name
    shutil.copytree(A2, place, symlinks=True)
    commands = place / "commands.txt"
    text = commands.read_text(encoding="utf-8")
    assert HEALTH in text
    commands.write_text(f"$ date\nSun Nov {day} 10:00:00 UTC 2026\n[exit 0]\n\n" + text.replace(HEALTH, HEALTH.replace(": NA", f": {code}")), encoding="utf-8")
    return str(place)


def test_a_code_that_came_between_two_looks(tmp_path: Path) -> None:
    new, old = look(tmp_path, "node1", 30, "0x80E01801"), look(tmp_path, "node1", 29)
    (cause,) = json_of("diff", new, old)["diff"]["causes"]  # the order on the command line does not matter: the clocks do
    assert cause["rule"] == "npu-new-fault-codes"
    text = run("diff", new, old).text
    assert "New since 2026-11-29 10:00 UTC, seen 2026-11-30 10:00 UTC: NPU 3 chip 0 reports fault code 80E01801" in text
    assert "新的 NPU 故障码" in run("diff", new, old, language="zh").text


@pytest.mark.parametrize(("names", "codes"), [(("node1", "node1"), ("NA", "0x80E01801")), (("node1", "node1"), ("0x80E01801", "0x80E01801")), (("node1", "node2"), ("0x80E01801", "NA"))])
def test_what_is_not_new(tmp_path: Path, names: tuple[str, str], codes: tuple[str, str]) -> None:
    """One that has gone, one that was there, one of another machine."""
    new, old = look(tmp_path, names[0], 30, codes[0]), look(tmp_path, names[1], 29, codes[1])
    assert json_of("diff", new, old)["diff"]["causes"] == []


def test_a_rule_that_is_skipped_is_silent(tmp_path: Path) -> None:
    new, old = look(tmp_path, "node1", 30, "0x80E01801"), look(tmp_path, "node1", 29)
    assert json_of("diff", new, old, "--skip", "npu-new-fault-codes")["diff"]["causes"] == []
