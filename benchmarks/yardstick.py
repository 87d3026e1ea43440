"""Another checker of the same kind as a yardstick: msprechecker, in an environment of its own, made once and kept."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

VERSION = "0.4.0"
WITHIN = 300
"""Seconds for its installation."""


def msprechecker() -> Path | None:
    """The folder of its command; None where it cannot be installed, and standard error says why."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = cache / "ascend-doctor-test" / f"msprechecker-{VERSION}"
    if not (folder / "bin" / "msprechecker").exists():
        try:
            venv.create(folder, with_pip=True, clear=True)
            command = [str(folder / "bin" / "python"), "-I", "-m", "pip", "install", "-q", "--disable-pip-version-check", f"msprechecker=={VERSION}"]
            subprocess.run(command, check=True, timeout=WITHIN, stdin=subprocess.DEVNULL, capture_output=True)
        except (OSError, subprocess.SubprocessError) as problem:
            print(f"Left out: msprechecker {VERSION} cannot be installed: {problem}", file=sys.stderr)
            return None
    return folder / "bin"
