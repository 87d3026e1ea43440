"""What a running examination tells while it runs, and how it is stopped. Written by its thread, read by the screen.

Contract: nothing here waits. `Stopped` ends the thread at the next look at the host, the next verdict or the next piece of a log.
"""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Listener, Output, Process, Unavailable
from doctor.text import clean_line

if TYPE_CHECKING:
    from doctor.finding import Verdict


class Stopped(BaseException):
    """Nobody waits for this examination any more. No `Exception`: a rule that is running must not turn it into a verdict."""


class Watch:
    """The state of one run. Single assignments and appends are atomic, so that no lock is needed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stop = threading.Event()
        self._doing: tuple[str, float] | None = None
        self.started = clock()
        self.total = 0
        self.bytes_read = 0
        self.verdicts: list[Verdict] = []

    @property
    def seconds(self) -> float:
        return self._clock() - self.started

    @property
    def doing(self) -> tuple[str, float] | None:
        """The look at the host that is under way, and since how many seconds."""
        doing = self._doing
        return (doing[0], self._clock() - doing[1]) if doing else None

    def stop(self) -> None:
        self._stop.set()

    def check(self) -> None:
        """Raises `Stopped` where the run was stopped."""
        if self._stop.is_set():
            raise Stopped

    def heard(self, verdict: Verdict) -> None:
        self.check()
        self.verdicts.append(verdict)

    def read(self, size: int) -> None:
        self.check()
        self.bytes_read += size

    @contextmanager
    def looking(self, what: str) -> Iterator[None]:
        """While the host is asked for something."""
        self.check()
        self._doing = what, self._clock()
        try:
            yield
        finally:
            self._doing = None
        self.check()


class WatchedHost:
    """A host whose every look is told to a watch."""

    def __init__(self, host: Host, watch: Watch) -> None:
        self._host, self._watch = host, watch

    @property
    def label(self) -> str:
        return self._host.label

    @property
    def live(self) -> bool:
        return self._host.live

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        with self._watch.looking(path):
            return self._host.read(path, limit, tail)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        with self._watch.looking(path):
            return self._host.read_raw(path, limit, offset)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        with self._watch.looking(glob):
            return self._host.list(glob)

    def stat(self, path: str) -> FileInfo | Unavailable:
        with self._watch.looking(path):
            return self._host.stat(path)

    def resolve(self, path: str) -> str | Unavailable:
        with self._watch.looking(path):
            return self._host.resolve(path)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        with self._watch.looking(clean_line(shlex.join(argv))):
            return self._host.run(argv, timeout, env)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        with self._watch.looking("processes"):
            return self._host.processes()

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        with self._watch.looking(f"/proc/{pid}/environ"):
            return self._host.environ(pid)

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        with self._watch.looking("listening sockets"):
            return self._host.listening()

    def now(self) -> datetime:
        return self._host.now()

    def boot_id(self) -> str | Unavailable:
        return self._host.boot_id()


__all__ = ["Stopped", "Watch", "WatchedHost"]
