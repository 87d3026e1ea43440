"""The app's way to its terminal: a terminal that has gone ends the app, and a slow line gets only what changed."""

from __future__ import annotations

import os
import shutil
import signal
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver

from doctor.tui.frugal import Painted


class _Terminal:
    """The terminal's file. Once writing fails nothing is written any more, so that what waits for it goes on; and the app is told to end."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._gone = False

    def write(self, text: str) -> int:
        if not self._gone:
            try:
                return self._file.write(text)
            except (OSError, ValueError):
                self._hang_up()
        return len(text)

    def flush(self) -> None:
        if not self._gone:
            try:
                self._file.flush()
            except (OSError, ValueError):
                self._hang_up()

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()

    def _hang_up(self) -> None:
        self._gone = True
        hang_up()


def hang_up() -> None:
    """As the kernel does for a terminal that has a session of its own."""
    os.kill(os.getpid(), signal.SIGHUP)


class TerminalDriver(LinuxDriver):
    """Textual's driver, for terminals that may vanish."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._file: Any = _Terminal(self._file)

    def run_input_thread(self) -> None:
        try:
            super().run_input_thread()
        except OSError:  # the keyboard has gone; Textual would paint a traceback on what is not there
            hang_up()


class FrugalDriver(TerminalDriver):
    """Sends only what differs from what the terminal shows."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._painted: Painted = app.painted

    def write(self, data: str) -> None:
        if "\x1b[?1049" in data:
            self._painted.forget()
        reduced = self._painted.reduce(data, shutil.get_terminal_size().columns)
        if reduced:
            super().write(reduced)


__all__ = ["FrugalDriver", "TerminalDriver"]
