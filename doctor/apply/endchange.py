"""A process that is ended: asked first (SIGTERM), forced after a while (SIGKILL), and never another one that got its number.

Contract: a process is known by its number and the moment it was started (field 22 of /proc/PID/stat). It cannot be brought back: `final`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.shellwords import quoted
from doctor.text import clean_line

PATIENCE = 20.0
"""Seconds between SIGTERM and SIGKILL: a server that is asked finishes what it is answering."""
FORCED = 10.0
"""Seconds after SIGKILL; a process in uninterruptible sleep (a hung driver) outlives it."""
POLL = 0.05


@dataclass(frozen=True)
class EndChange:
    """`ticks` is the process's start in clock ticks since boot; `argv` what it was started with, for starting it again."""

    KIND: ClassVar[str] = "process"

    pid: int
    ticks: int
    uid: int
    name: str
    argv: tuple[str, ...] = ()
    patience: float = PATIENCE

    @property
    def final(self) -> bool:
        """An ended process does not come back; undoing leaves it alone."""
        return True

    @property
    def subject(self) -> str:
        return f"process {self.pid} ({self.name})"

    @property
    def nothing(self) -> bool:
        return False

    def commands(self) -> tuple[tuple[str, ...], ...]:
        return (("kill", "-TERM", str(self.pid)), ("kill", "-KILL", str(self.pid)))

    def diff(self) -> str:
        return ""

    def look(self, ground: Ground) -> Standing:
        return Standing.BEFORE if self._there() else Standing.AFTER

    def _there(self) -> bool:
        """Whether this very process still runs; a zombie has ended, only its parent has not heard of it."""
        found = ticks_and_state(_stat(self.pid))
        return found is not None and found[0] == self.ticks and found[1] not in ("Z", "X")

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        return {}

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if self.pid <= 1 or self.pid == os.getpid():
            raise ChangeError(f"process {self.pid} is never ended")
        with _handle(self.pid) as handle:
            if not self._there():  # after the handle was taken: from here on the number cannot be another's
                return
            self._signal(handle, signal.SIGTERM)
            ground.reached(f"process {self.pid} asked")
            if self._gone(handle, self.patience):
                return
            self._signal(handle, signal.SIGKILL)
            ground.reached(f"process {self.pid} forced")
            if not self._gone(handle, FORCED):
                raise ChangeError(f"process {self.pid} does not end, not even by SIGKILL: it waits for the driver or a disk; only a restart of the machine helps")

    def _signal(self, handle: int | None, sign: signal.Signals) -> None:
        try:
            if handle is not None:
                signal.pidfd_send_signal(handle, sign)
            elif self._there():
                os.kill(self.pid, sign)
        except ProcessLookupError:
            pass
        except PermissionError:
            raise ChangeError(f"process {self.pid} belongs to user {self.uid}; only that user or root may end it") from None

    def _gone(self, handle: int | None, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._there():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if handle is not None:
                select.select([handle], [], [], min(left, 1.0))  # readable when the process ends
            else:
                time.sleep(min(left, POLL))
        return True

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        """Nothing: what ran is over."""

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        return ""

    def scripted(self) -> Scripted:
        # A number may be another's by the time the script runs: the start has to be the same.
        same = f'[ "$(sed "s/.*) //" /proc/{self.pid}/stat 2>/dev/null | cut -d" " -f20)" = {self.ticks} ]'
        wait = f"for _ in $(seq {int(self.patience)}); do {same} || break; sleep 1; done"
        end = f"if {same}; then kill -TERM {self.pid}; {wait}; if {same}; then kill -KILL {self.pid}; fi; fi"
        started = "; it was started with: " + " ".join(quoted(word) for word in self.argv) if self.argv else ""
        told = clean_line(f"{self.subject} was ended and cannot be brought back{started}")
        task = {"ansible.builtin.command": {"argv": ["sh", "-c", end]}, "changed_when": False}
        return Scripted((end,), (f"printf '%s\\n' {quoted(told)}",), (task,), ({"ansible.builtin.debug": {"msg": told}},))

    def data(self) -> Mapping[str, Any]:
        return {"pid": self.pid, "ticks": self.ticks, "uid": self.uid, "name": self.name, "argv": list(self.argv), "patience": self.patience}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> EndChange:
        return cls(int(data["pid"]), int(data["ticks"]), int(data["uid"]), str(data["name"]), tuple(map(str, data["argv"])), float(data["patience"]))


def ticks_and_state(stat: str) -> tuple[int, str] | None:
    """(start in clock ticks, state) of /proc/PID/stat; the name in parentheses may hold anything."""
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or not (fields[19].isascii() and fields[19].isdecimal()):
        return None
    return int(fields[19]), fields[0]


def _stat(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read(4096)
    except OSError:
        return ""


@contextlib.contextmanager
def _handle(pid: int) -> Iterator[int | None]:
    """A descriptor of the process (pidfd_open, Linux 5.3), None on an older kernel."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    except OSError as problem:
        if problem.errno not in (errno.ENOSYS, errno.EPERM, errno.EINVAL):
            raise
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


__all__ = ["EndChange", "ticks_and_state"]
