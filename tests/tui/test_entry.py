"""How the app is entered: on a terminal that can carry it, and nowhere else; in a real terminal (a pty) it opens, answers and gives the screen back."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from doctor.cli import run
from doctor.tui.run import SLOW_SETTINGS, prepare
from doctor.tui.terminal import LEAST_COLUMNS, LEAST_LINES, refusal
from tests.tui.driving import HOSTS, OLD_DRIVER

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120
"""Seconds until a terminal that stays silent is a failure."""

ALTERNATE, NORMAL = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A program on a pseudo terminal."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], columns: int, lines: int) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "doctor", *argv], stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env={**inherited, **env}, start_new_session=True
        )
        os.close(slave)
        self.seen = b""

    def until(self, wanted: bytes) -> bytes:
        """Everything that was printed, as soon as this is among it."""
        while wanted not in self.seen:
            ready, _, _ = select.select([self.master], [], [], PATIENCE)
            assert ready, f"{wanted!r} did not come: {self.seen[-2000:]!r}"
            data = self._read()
            assert data, f"ended without {wanted!r}: {self.seen[-2000:]!r}"
            self.seen += data
        return self.seen

    def to_the_end(self) -> bytes:
        while data := self._read():
            self.seen += data
        return self.seen

    def _read(self) -> bytes:
        try:
            return os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return b""

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)


@contextmanager
def terminal(*argv: str, columns: int = 80, lines: int = 24, env: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    opened = Terminal(argv, {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})}, columns, lines)
    try:
        yield opened
    finally:
        opened.process.kill()
        opened.process.wait()
        os.close(opened.master)


def test_doctor_on_a_terminal_opens_the_app_and_q_gives_the_screen_back() -> None:
    with terminal("--from", str(HOSTS / "a2-old-driver")) as app:
        app.until(ALTERNATE)
        app.until(b"driver-too-old")
        app.type(b"q")
        assert app.to_the_end().count(NORMAL) == 1
        assert app.process.wait(PATIENCE) == 0


@pytest.mark.parametrize("how", ["ctrl+c", "SIGTERM", "SIGHUP"])
def test_whatever_ends_the_app_the_screen_is_given_back(how: str) -> None:
    with terminal("tui", "--from", str(HOSTS / "a2-old-driver"), "--slow") as app:
        app.until(b"driver-too-old")
        app.type(b"\x03") if how == "ctrl+c" else app.process.send_signal(getattr(signal, how))
        assert NORMAL in app.to_the_end()
        assert app.process.wait(PATIENCE) == 0


def test_a_slow_line_is_spared() -> None:
    """45 kB at the most for the first screen; a mouse that is moved sends nothing."""
    with terminal("tui", "--from", str(HOSTS / "a2-old-driver"), "--slow") as app:
        app.until(b"driver-too-old")
        assert len(app.seen) < 45_000 and b"?1003h" not in app.seen


@pytest.mark.parametrize(
    ("argv", "env", "columns"),
    [((), {"TERM": "dumb"}, 80), ((), {}, LEAST_COLUMNS - 1), (("check",), {}, 80), (("-v",), {}, 80), (("--fail-on", "never"), {}, 80)],
)
def test_elsewhere_there_is_text(argv: Sequence[str], env: Mapping[str, str], columns: int) -> None:
    with terminal(*argv, "--from", str(HOSTS / "a2-old-driver"), columns=columns, env=env) as text:
        seen = text.to_the_end()
        assert ALTERNATE not in seen and OLD_DRIVER.encode() in seen
        assert (b"doctor: The app needs" in seen) == (not argv)


def test_what_a_terminal_lacks_is_told_apart() -> None:
    fits = LEAST_COLUMNS, LEAST_LINES
    assert refusal({"TERM": "xterm"}, True, *fits) == ""
    assert refusal({"TERM": "xterm"}, False, *fits) == "tui_no_terminal"
    assert refusal({}, True, *fits) == refusal({"TERM": "dumb"}, True, *fits) == "tui_dumb"
    assert refusal({"TERM": "xterm"}, True, LEAST_COLUMNS - 1, 99) == refusal({"TERM": "xterm"}, True, 999, LEAST_LINES - 1) == "tui_small"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["tui"], "needs a terminal"),
        (["--slow"], "needs a terminal"),
        (["tui", "--json"], "--json"),
        (["tui", "-"], "standard input"),
        (["tui", "--root", "/", "x.log"], "--root"),
    ],
)
def test_the_app_that_cannot_open_says_why(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*argv, "--lang", "en"]) == 2
    assert told in capsys.readouterr().err


def test_a_slow_line_sets_only_what_the_user_has_not_set() -> None:
    environ = {"TEXTUAL_FPS": "30"}
    prepare(environ, slow=True, colour=True)
    assert environ == {**SLOW_SETTINGS, "TEXTUAL_FPS": "30"}
    prepare(environ, slow=False, colour=False)
    assert environ["NO_COLOR"] == "1"
