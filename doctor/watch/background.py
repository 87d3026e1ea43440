"""A watch that runs on without a terminal and without a service manager: a pid file whose start time is checked, started, asked, ended.

Contract: only the process that the pid file names, with the start time that it had, is ever sent a signal.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from doctor.statehome import newest_smoke, watches
from doctor.text import clean_line
from doctor.wholefile import whole_file

state_folder = watches
"""Where samples and the pid file are kept."""

SETTLE = 2.0
"""Seconds in which a start that fails shows itself."""
END = 15.0
"""Seconds that a watch gets to write its last sample (npu-smi may take 10)."""


@dataclass(frozen=True)
class Running:
    """The watch in the background. `ticks`: when it started, clock ticks since boot."""

    pid: int
    ticks: int
    begin: float
    samples: str
    settings: tuple[float, float, float] = (900.0, 7200.0, 10800.0)
    """warmup, least_suspect, least_leak: what it judges by, so that a report on it does the same."""


KEPT = 20
"""Sample files of earlier watches that are kept in the state folder."""


def prune(folder: Path) -> None:
    """Removes the oldest of our own sample files beyond `KEPT`; evidence stays."""
    named = sorted(path for path in folder.glob("watch-*Z-*.ndjson") if path.is_file() and not path.is_symlink())
    for path in named[:-KEPT]:
        for old in (path, path.with_name(path.name + ".1")):
            with contextlib.suppress(OSError):
                old.unlink(missing_ok=True)


def start_ticks(pid: int) -> int | None:
    """When a process started; None where there is none (or it is dead and only not reaped)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in ("Z", "X") and fields[19].isdecimal() else None


def recorded(folder: Path) -> Running | None:
    """The watch that the pid file names, whether it still runs or not."""
    try:
        record = json.loads((folder / "watch.pid").read_text(encoding="utf-8")[:4096])
        warmup, suspect, leak = (float(value) for value in record["settings"])
        return Running(int(record["pid"]), int(record["ticks"]), float(record["begin"]), str(record["samples"]), (warmup, suspect, leak))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running(folder: Path) -> Running | None:
    """The same, if it still is that process."""
    found = recorded(folder)
    return found if found is not None and found.pid > 1 and start_ticks(found.pid) == found.ticks else None


def start(folder: Path, samples: Path, arguments: Sequence[str], settings: tuple[float, float, float]) -> Running | str:
    """Starts `doctor watch` with these arguments, detached; what it said where it ended at once."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    talk = folder / "watch.log"
    with talk.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "doctor", "watch", "--samples", str(samples), *arguments],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/", env=_environment(), close_fds=True,
        )  # fmt: skip
    ticks = start_ticks(child.pid)
    deadline = time.monotonic() + SETTLE
    while time.monotonic() < deadline and child.poll() is None and not samples.exists():
        time.sleep(0.05)
    if child.poll() is not None or ticks is None:
        lines = talk.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return clean_line(lines[0] if lines else f"exit {child.returncode}")[:300]
    found = Running(child.pid, ticks, time.time(), str(samples), settings)
    with whole_file(str(folder / "watch.pid"), 0o644) as file:
        file.write(json.dumps(asdict(found)).encode())
    return found


def _environment() -> dict[str, str]:
    """Ours, with the place of this package, since the child does not start where we did."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{path}" if path else root}


def stop(found: Running) -> bool:
    """Asks the watch to end and waits for it; False where it did not end in time."""
    if start_ticks(found.pid) != found.ticks:
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + END
    while time.monotonic() < deadline:
        if start_ticks(found.pid) != found.ticks:
            return True
        with contextlib.suppress(ChildProcessError):
            os.waitpid(found.pid, os.WNOHANG)  # only where we started it ourselves
        time.sleep(0.05)
    return False


def unit(arguments: Sequence[str]) -> str:
    """A systemd unit that watches; printed, never installed."""
    quoted = " ".join('"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"' for word in (sys.executable, "-m", "doctor", "watch", "--wait", *arguments))
    return (
        "# /etc/systemd/system/ascend-doctor-watch.service\n"
        "# systemctl daemon-reload && systemctl enable --now ascend-doctor-watch\n"
        "[Unit]\nDescription=doctor watch: leaks, stalls and pressure of the inference server\nAfter=network.target\n\n"
        f"[Service]\nExecStart={quoted}\nRestart=on-failure\nRestartSec=30\n"
        "StateDirectory=ascend-doctor\nNice=10\nMemoryMax=512M\nCPUQuota=20%\nNoNewPrivileges=yes\nProtectSystem=strict\nReadWritePaths=/var/lib/ascend-doctor\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


__all__ = ["Running", "newest_smoke", "prune", "recorded", "running", "start", "start_ticks", "state_folder", "stop", "unit"]
