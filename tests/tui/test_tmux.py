"""The app in a real terminal: keys go in through tmux, the screen is read back; over a slow line as well."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from doctor.text import cell_width
from tests.tui.driving import HOSTS, PATIENCE

TMUX = shutil.which("tmux")
ROOT = Path(__file__).resolve().parents[2]
SLOW_BYTES = 2400
"""Bytes a second: an old modem's 19,200 bit/s."""

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not installed")


class Pane:
    """A window of tmux with one program."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._pause = threading.Event()

    def tmux(self, *argv: str) -> str:
        done = subprocess.run([str(TMUX), "-f", "/dev/null", "-S", str(self._socket), *argv], capture_output=True, text=True, encoding="utf-8")
        return done.stdout

    @property
    def lines(self) -> list[str]:
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def until(self, *texts: str, gone: str = "\0") -> list[str]:
        """The screen as soon as all of these stand on it, and `gone` no more."""
        for _ in range(PATIENCE * 10):
            lines = self.lines
            seen = "\n".join(lines)
            if all(text in seen for text in texts) and gone not in seen:
                return lines
            self._pause.wait(0.1)
        raise AssertionError(f"{texts} did not come:\n" + "\n".join(self.lines))

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)


@contextmanager
def pane(folder: Path, command: str, columns: int = 80, lines: int = 24) -> Iterator[Pane]:
    opened = Pane(folder / "t")
    shell = f"cd {shlex.quote(str(ROOT))}; unset NO_COLOR; LC_ALL=C.UTF-8 {command}; echo left with $?; exec cat"
    opened.tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), shell)
    try:
        yield opened
    finally:
        opened.tmux("kill-server")


def doctor(*argv: str) -> str:
    return shlex.join([sys.executable, "-m", "doctor", "tui", "--from", str(HOSTS / "a2-old-driver"), *argv])


def test_keys_go_in_and_screens_come_back(tmp_path: Path) -> None:
    with pane(tmp_path, doctor("--lang", "en")) as app:
        app.until("driver-too-old-for-cann", "1 FAIL", ">FAIL")
        app.keys("Down")
        app.until(">WARN")
        app.keys("Up", "Enter")
        app.until("what to do", "--upgrade", gone="Run again")
        app.keys("Escape")
        app.until("Run again")
        app.keys("n")
        app.until("910B3", "88.4 W")
        app.keys("Escape")
        app.until("Run again")
        app.keys("/", "i", "d", "l", "e")
        app.until("npu-idle-hbm-normal", gone="driver-too-old-for-cann  ")
        app.keys("Escape")
        app.until("driver-too-old-for-cann")  # before the next key: read at once, escape and a letter are another key
        app.tmux("resize-window", "-x", "120", "-y", "40")
        lines = app.until("| NOTE")
        assert len(lines) == 40 or max(map(cell_width, lines)) > 80
        app.keys("L")
        lines = app.until("状态", "驱动")
        bars = {cell_width(line.partition("|")[0]) for line in lines if "|" in line}
        assert len(bars) == 1, "the line between list and detail is straight, whatever the language"
        app.keys("q")
        app.until("left with 0")
        # After a resize tmux 3.3a shows rows of the alternate screen on the main one again; that the app left it is what counts.
        assert app.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"


def test_a_slow_line_shows_the_same(tmp_path: Path) -> None:
    """At 19,200 bit/s the app opens, answers and ends; the screen holds what a fast one holds."""
    slow = shlex.join([sys.executable, str(Path(__file__).with_name("slowline.py")), str(SLOW_BYTES)])
    with pane(tmp_path, f"{slow} {doctor('--lang', 'en', '--slow')}") as app:
        app.until(">FAIL", "1 FAIL")
        app.keys("Down")
        app.until(">WARN", "kernels of this newer CANN time out", "25.2.0 or newer")
        app.keys("x", "Down", "Down")
        app.until(">SKIP")
        app.keys("Enter")
        app.until("not looked", gone=">SKIP")
        app.keys("Escape")
        lines = app.until(">SKIP", "Run again")
        assert sum("State" in line for line in lines) == 1
        app.keys("q")
        app.until("left with 0")
