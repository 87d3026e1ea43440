"""Measures the app on a terminal: its first paint against an empty Textual app, a key among 5,000 findings and in a large log, bytes over a slow line.

Times are processor time, of the program and its kernel: what other programs do meanwhile does not count, and where nothing else runs it is the
time that a user waits.

Contract: `measure` gives (name, measured, limit, unit) for each promise and writes nothing but into the folder it is given. The runs of a pair
take turns, so that what else the machine does meets both. Alone: python benchmarks/tui.py
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOST = ROOT / "fixtures" / "hosts" / "a2-old-driver"

FINDINGS = 5_000
LOG_MB = 64

PAINT_LIMIT, KEY_LIMIT, SCREEN_LIMIT, MOVE_LIMIT = 200.0, 50.0, 45_000.0, 1_000.0

EMPTY = "from textual.app import App\nclass Empty(App):\n    pass\nEmpty().run()\n"

_OURS = re.compile(rb"doctor [0-9]")
"""The first line of the app on this machine: what it is, before anything was looked at."""
_PAINT = re.compile(rb"\x1b\[\d+;\d+H")
PATIENCE = 60.0
QUIET = 1.5
"""Seconds without output after which a screen is complete: longer than the pause after which the detail follows the cursor."""

Promised = tuple[str, float, float, str]


class _Terminal:
    """A program on a pseudo terminal of 80x24."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environ = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        environ |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=environ, start_new_session=True)
        os.close(slave)

    def until(self, wanted: re.Pattern[bytes]) -> bytes:
        """Everything printed, as soon as this is among it."""
        seen = b""
        while not wanted.search(seen):
            if not select.select([self.master], [], [], PATIENCE)[0]:
                raise TimeoutError(f"no {wanted.pattern!r} in {seen[-500:]!r}")
            seen += os.read(self.master, 65536)
        return seen

    def quiet(self) -> bytes:
        """What is printed until nothing more comes."""
        seen = b""
        while select.select([self.master], [], [], QUIET)[0]:
            seen += os.read(self.master, 65536)
        return seen

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> float:
        """Ends it; the seconds of processor time that it took."""
        self.process.send_signal(signal.SIGKILL)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        os.close(self.master)
        return used.ru_utime + used.ru_stime


def first_paint(python: str, doctor: Sequence[str], runs: int) -> float:
    """Milliseconds that the app's first paint comes later than an empty app's; median of the rounds."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number in range(runs + 1):
        for ours in (False, True):
            terminal = _Terminal([*doctor, "tui"] if ours else [python, "-c", EMPTY])
            try:
                terminal.until(_OURS if ours else _PAINT)
            finally:
                seconds = terminal.end()
            if number:  # the first round warms up
                taken[ours].append(seconds)
    return 1000 * (statistics.median(taken[True]) - statistics.median(taken[False]))


def slow_line(doctor: Sequence[str]) -> tuple[int, int]:
    """Bytes of the first screen until it is complete, and of the dearest of six cursor moves with its detail, both under --slow."""
    terminal = _Terminal([*doctor, "tui", "--from", str(HOST), "--slow", "--lang", "en"])
    try:
        seen = terminal.until(re.compile(rb"driver-too-old"))
        first = len(seen + terminal.quiet())
        moves = []
        for key in (b"\x1b[B", b"\x1b[B", b"\x1b[A", b"\x1b[A", b"\x1b[B", b"\x1b[A"):
            terminal.type(key)
            moves.append(len(terminal.quiet()))
        return first, max(moves)
    finally:
        terminal.end()


def keys(folder: Path) -> tuple[float, float]:
    """Milliseconds from a key to the painted screen: among 5,000 findings, and in a large log; medians of 40 keys."""
    from doctor.finding import Evidence
    from doctor.host.recorded import open_host
    from doctor.logscan.sources import open_sources
    from doctor.report.model import Report
    from doctor.tui.app import DoctorApp
    from doctor.tui.job import HostJob, TextJob
    from doctor.tui.screens.evidence import EvidenceScreen
    from doctor.tui.watch import Watch

    log = folder / "large.log"
    line = "(EngineCore_DP0 pid=775) INFO 07-01 10:00:00 [core.py:708] step " + "x" * 60 + "\n"
    log.write_text(line * (LOG_MB * 1_000_000 // len(line)), encoding="utf-8")
    job = HostJob(open_host(HOST))
    whole = job.run(Watch())
    causes = whole.examination.causes
    many = tuple(replace(causes[n % len(causes)], finding=replace(causes[n % len(causes)].finding, subject=f"NPU {n}")) for n in range(FINDINGS))
    report = replace(whole, examination=replace(whole.examination, causes=many))

    class Known:
        label = "many"

        def run(self, watch: Watch, only: str = "") -> Report:
            return report

    async def measured() -> tuple[float, float]:
        app = DoctorApp(Known())
        async with app.run_test(size=(120, 40)) as pilot:
            await app.screen.idle.wait()  # type: ignore[attr-defined]
            listed = [await _pressed(pilot, key) for key in ["down", "down", "pagedown", "up"] * 10]
            source = TextJob("log", tuple(open_sources([str(log)])))
            await app.push_screen(EvidenceScreen(source, Evidence(str(log), "x", 1000)))
            await app.workers.wait_for_complete()
            viewed = [await _pressed(pilot, key) for key in ["down", "pagedown", "up", "w"] * 10]
        return statistics.median(listed), statistics.median(viewed)

    return asyncio.run(measured())


async def _pressed(pilot: Any, key: str) -> float:
    started = time.process_time()
    await pilot.press(key)
    return 1000 * (time.process_time() - started)


def measure(python: str, doctor: Sequence[str], folder: Path, runs: int) -> list[Promised]:
    """Every promise of the app. `doctor` is the command without its arguments, `python` an interpreter that has Textual."""
    first, move = slow_line(doctor)
    listed, viewed = keys(folder)
    return [
        ("app: first paint after an empty Textual app's", first_paint(python, doctor, runs), PAINT_LIMIT, "ms"),
        (f"app: a key among {FINDINGS:,} findings", listed, KEY_LIMIT, "ms"),
        (f"app: a key in a log of {LOG_MB} MB", viewed, KEY_LIMIT, "ms"),
        ("app: first screen over a slow line", float(first), SCREEN_LIMIT, "bytes"),
        ("app: a cursor move over a slow line", float(move), MOVE_LIMIT, "bytes"),
    ]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        promises = measure(sys.executable, [sys.executable, "-m", "doctor"], Path(folder), 7)
    for name, measured, limit, unit in promises:
        print(f"{name:48} {measured:10,.1f} {unit:6} of {limit:,.0f}{'' if measured <= limit else '  NOT KEPT'}")
    return int(any(measured > limit for _, measured, limit, _ in promises))


if __name__ == "__main__":
    sys.exit(main())
