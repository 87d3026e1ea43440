"""`doctor smoke` as a pipeline calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def smoke(*arguments: str, timeout: float = 3600) -> tuple[int, dict[str, Any]]:
    """(exit code, the JSON object)."""
    done = subprocess.run([sys.executable, "-m", "doctor", "smoke", "--json", *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, answer
