"""Where doctor keeps what it has seen between two runs: samples of watches, and the newest smoke test. Pure; makes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_home(environ: Mapping[str, str], euid: int) -> Path:
    """Below XDG_STATE_HOME where that is set, else /var/lib for root and ~/.local/state for others."""
    base = environ.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        base = "/var/lib" if euid == 0 else os.path.expanduser("~/.local/state")
    return Path(base) / "ascend-doctor"


def watches(environ: Mapping[str, str], euid: int) -> Path:
    """The folder of samples, evidence, and the pid file of the watch in the background."""
    return state_home(environ, euid) / "watch"


def newest_smoke(environ: Mapping[str, str], euid: int) -> Path:
    """Where the result of the newest smoke test is kept."""
    return state_home(environ, euid) / "smoke" / "newest.json"


__all__ = ["newest_smoke", "state_home", "watches"]
