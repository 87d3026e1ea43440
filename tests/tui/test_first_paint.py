"""What the first paint may not wait for: neither the rules, nor the facts, nor the engine are imported before it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import doctor.tui.run, doctor.tui.app, doctor.tui.job, doctor.tui.screens.checkup
print(*sorted(name for name in sys.modules if name.startswith("doctor.")))
"""

HEAVY = ("doctor.facts", "doctor.rulebook", "doctor.checkup", "doctor.examine", "doctor.diagnosis", "doctor.finding", "doctor.report.model", "doctor.logscan", "doctor.rules")


def test_the_engine_is_loaded_behind_the_first_paint() -> None:
    loaded = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout.split()
    assert "doctor.tui.app" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []
