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


def test_a_cursor_move_over_a_slow_line_takes_less_than_a_kilobyte() -> None:
    with terminal("tui", "--from", str(HOSTS / "a2-old-driver"), "--slow", "--lang", "en") as app:
        app.until(b"driver-too-old")
        app.until(b"1 FAIL")
        app.type(b"j")
        app.until(b"25.2.0 or newer")
        before = len(app.seen)
        app.type(b"j")
        app.until(b"3382 to 3389")
        assert 0 < len(app.seen) - before < 1000


def test_the_console_gets_english_and_is_told_why() -> None:
    with terminal("tui", "--from", str(HOSTS / "a2-old-driver"), "--lang", "zh", env={"TERM": "linux"}) as app:
        app.until(b"The Linux console has no Chinese")
        app.until(b"What was found")
        app.type(b"q")
        assert NORMAL in app.to_the_end()


@pytest.mark.parametrize("env", [{"TERM": "screen"}, {"TERM": "tmux-256color"}, {"TERM": "xterm"}, {"TERM": "xterm-256color", "NO_COLOR": "1"}], ids=str)
def test_terminals_of_every_kind_carry_the_app(env: Mapping[str, str]) -> None:
    with terminal("tui", "--from", str(HOSTS / "a2-old-driver"), env=env) as app:
        app.until(b"driver-too-old")
        assert ("NO_COLOR" in env) == (b"\x1b[38;2" not in app.seen and b"\x1b[1;38;2" not in app.seen) or env["TERM"] != "xterm-256color"
        app.type(b"q")
        assert NORMAL in app.to_the_end()
        assert app.process.wait(PATIENCE) == 0


def test_a_lost_connection_ends_the_app() -> None:
    with terminal("tui", "--from", str(HOSTS / "a2-old-driver")) as app:
        app.until(b"driver-too-old")
        os.close(app.master)
        assert app.process.wait(PATIENCE) is not None
        app.master = os.open(os.devnull, os.O_RDWR)


def test_leaving_ends_programs_that_will_not_end_by_themselves() -> None:
    code = (
        "import subprocess, sys; from doctor.tui.run import _end_children\n"
        "child = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; echo ready; while :; do sleep 600; done'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline(); _end_children(); print(child.wait())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert done.stdout.strip() == str(-signal.SIGKILL), done.stderr


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
    environ = {"TEXTUAL_FPS": "30", "COLUMNS": "80", "LINES": "24"}
    prepare(environ, slow=True, colour=True)
    assert environ == {**SLOW_SETTINGS, "TEXTUAL_FPS": "30"}
    prepare(environ, slow=False, colour=False)
    assert environ["NO_COLOR"] == "1"
