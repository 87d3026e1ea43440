"""Tells on standard error how far an examination is, where somebody sees it and it takes long enough to ask oneself."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from doctor.locale import Speak

PATIENCE = 0.5
"""Seconds without a word."""

INTERVAL = 0.1

_CLEAR = "\r\x1b[K"


class Progress:
    """A line that is written over and is gone at the end; nothing where standard error is no terminal or nobody wants to hear."""

    def __init__(self, speak: Speak, detail: int = 0) -> None:
        self._speak = speak
        self._on = detail >= 0 and sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + PATIENCE
        self._shown = False
        self._rules = 0
        self._bytes = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._shown:
            self._write(_CLEAR)

    def heard(self, _verdict: object) -> None:
        """One rule is done."""
        self._rules += 1
        self._tell("progress_rules", count=self._rules)

    def read(self, size: int) -> None:
        """So many bytes of a log were read."""
        self._bytes += size
        self._tell("progress_read", megabytes=self._bytes // 1_000_000)

    def _tell(self, key: str, **values: object) -> None:
        if self._on and time.monotonic() >= self._next:
            self._next = time.monotonic() + INTERVAL
            self._shown = True
            self._write(_CLEAR + self._speak(key, **values))

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._on = False
