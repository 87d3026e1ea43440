"""The processes that a step has started, however they try to get away, and their end.

A process belongs to a step if it is in the step's session, carries the step's mark in its environment, descends from one that does, or did so when
it was last looked at. One of these alone does not suffice: a daemon leaves the session, vLLM's processes overwrite their environment with their
title, and an orphan loses its parent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

MARK = "DOCTOR_SMOKE_STEP"
"""Environment variable that marks every process of a step."""
GRACE = 3.0
"""Seconds that an ordinary end may take before processes are killed: vLLM needs up to 5 to stop its engine, and kills it itself then."""
PATIENCE = 5.0
"""Seconds in which a killed process must be gone; one in uninterruptible sleep (a hung driver) is not."""
POLL = 0.05


@dataclass(frozen=True)
class Member:
    """One process. `started` is in clock ticks since boot, so that a reused number is not taken for it."""

    pid: int
    started: int
    ppid: int
    session: int
    name: str
    state: str

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.started


def everyone() -> dict[int, Member]:
    """Every process of this machine that may be seen, zombies included."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (member := _read(int(entry))) is not None:
            found[member.pid] = member
    return found


def _read(pid: int) -> Member | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        return Member(pid, int(rest[19]), int(rest[1]), int(rest[3]), name, rest[0])
    except (OSError, ValueError, IndexError):
        return None


def members(session: int, mark: str, known: Collection[tuple[int, int]] = ()) -> tuple[Member, ...]:
    """The living processes of a step. `session` is the pid of its first process; `known` are identities seen before."""
    running = {pid: member for pid, member in everyone().items() if member.state not in ("Z", "X") and pid != os.getpid()}
    ours = {
        pid
        for pid, member in running.items()
        if member.session == session or member.identity in known or (not _settled(member) and _marked(pid, mark))
    }
    grown = True
    while grown:
        descendants = {pid for pid, member in running.items() if member.ppid in ours and pid not in ours}
        ours |= descendants
        grown = bool(descendants)
    return tuple(running[pid] for pid in sorted(ours))


def _settled(member: Member) -> bool:
    """A kernel thread: it has no environment, and a machine has hundreds."""
    return member.ppid == 2 or member.pid == 2


def _marked(pid: int, mark: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"\0{MARK}={mark}\0".encode() in b"\0" + file.read(256 * 1024) + b"\0"
    except OSError:
        return False


def end(session: int, mark: str, known: Collection[tuple[int, int]], grace: float = GRACE) -> tuple[Member, ...]:
    """Ends all of them: asked first, if `grace` seconds are given, then killed. Those that nobody can end are returned."""
    if grace > 0:
        _send(members(session, mark, known), signal.SIGTERM)
        _gone(session, mark, known, grace)
    until = time.monotonic() + PATIENCE
    while left := members(session, mark, known):
        _send(left, signal.SIGKILL)
        _reap(left)
        if time.monotonic() > until:
            return left
        time.sleep(POLL)
    return ()


def _gone(session: int, mark: str, known: Collection[tuple[int, int]], seconds: float) -> None:
    until = time.monotonic() + seconds
    while (left := members(session, mark, known)) and time.monotonic() < until:
        _reap(left)
        time.sleep(POLL)


def _send(left: Collection[Member], sign: signal.Signals) -> None:
    for member in left:
        now = _read(member.pid)
        if now is not None and now.started == member.started:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, sign)


def _reap(left: Collection[Member]) -> None:
    """Takes the status of those that became our children: in a container, doctor may be the first process."""
    if os.getpid() != 1:
        return
    for member in left:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(member.pid, os.WNOHANG)


def mapped(member: Member, folder: str = "/dev/shm/") -> frozenset[str]:
    """Files below the folder that the process has mapped or open."""
    found = set()
    with contextlib.suppress(OSError), open(f"/proc/{member.pid}/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            at = line.find(folder)
            if at > 0:
                found.add(line[at:].strip().removesuffix(" (deleted)"))
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{member.pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/{member.pid}/fd/{name}")
                if target.startswith(folder):
                    found.add(target.removesuffix(" (deleted)"))
    return frozenset(found)


def named(left: Mapping[int, Member] | Collection[Member]) -> tuple[str, ...]:
    """"VLLM::EngineCor (4711)" for each."""
    each = left.values() if isinstance(left, Mapping) else left
    return tuple(f"{member.name} ({member.pid})" for member in each)
