"""Runs one step as a child process: its events and output as they come, within a deadline, stopped at once, everything it started ended.

Contract: `run` returns at the latest a few seconds after the deadline or after `stop` is set, and leaves no process behind that can be ended; on
KeyboardInterrupt too. A hang (deadline), a crash (signal) and a failure (exit status) are told apart; `stage` is the last one told.
"""

from __future__ import annotations

import contextlib
import enum
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event as Flag

from doctor.smoke import tree
from doctor.smoke.events import MOST_EVENTS, Check, Event, Figure, Line, Note, Occupied, Stage, parse
from doctor.text import clean, decode

HEAD, TAIL = 128 * 1024, 1024 * 1024
"""Bytes kept of the beginning and of the end of what a step printed."""
TICK = 0.1
"""Seconds between looks at the clock and at `stop`."""
LOOK = 1.0
"""Seconds between looks at which processes there are and what they have mapped."""
DUMP = 1.0
"""Seconds given to a hung child to print where its threads stand."""
LONGEST_EVENT = 64 * 1024


class How(enum.Enum):
    """How a step's process ended."""

    FINISHED = "finished"
    FAILED = "failed"
    CRASHED = "crashed"
    HUNG = "hung"
    STOPPED = "stopped"
    NOT_STARTED = "not started"


@dataclass(frozen=True)
class Launch:
    """What is started: `start.py` in `python`, in `folder`, with exactly `environment`; `secrets` never appear in what is kept."""

    python: str
    arguments: tuple[str, ...]
    folder: str
    environment: Mapping[str, str] = field(repr=False)
    seconds: float
    mark: str
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Ended:
    """How it went. `exit` is the exit status, negative for a signal; `left` are processes that could not be ended."""

    how: How
    exit: int | None = None
    stage: str = ""
    seconds: float = 0.0
    output: str = field(default="", repr=False)
    events: tuple[Event, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def signal(self) -> str:
        """The name of the signal that ended it, "SIGSEGV"; "" for none."""
        if self.exit is None or self.exit >= 0:
            return ""
        with contextlib.suppress(ValueError):
            return signal.Signals(-self.exit).name
        return f"signal {-self.exit}"

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(event for event in self.events if isinstance(event, Check))

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(event for event in self.events if isinstance(event, Figure))

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(event for event in self.events if isinstance(event, Note))

    @property
    def ports(self) -> tuple[int, ...]:
        return tuple(int(event.name) for event in self.events if isinstance(event, Occupied) and event.kind == "port" and event.name.isdecimal())


Heard = Callable[[Event | Line], None]
Seen = Callable[[Sequence[tree.Member]], None]


def run(launch: Launch, heard: Heard, stop: Flag, seen: Seen = lambda members: None) -> Ended:
    """Runs it to its end. `heard` gets each event and line as it comes; `seen` the processes about once a second."""
    started = time.monotonic()
    event_reader, event_writer = os.pipe()
    life_reader, life_writer = os.pipe()
    try:
        child = subprocess.Popen(
            [launch.python, *launch.arguments, str(event_writer), str(life_reader)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=(event_writer, life_reader),
            env=dict(launch.environment), cwd=launch.folder, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as problem:
        for descriptor in (event_reader, event_writer, life_reader, life_writer):
            os.close(descriptor)
        return Ended(How.NOT_STARTED, output=clean(f"{launch.python}: {getattr(problem, 'strerror', None) or problem}"))
    os.close(event_writer)
    os.close(life_reader)
    watched = _Watched(launch, child, event_reader, heard, seen)
    try:
        how = watched.until_end(started + launch.seconds, stop)
    finally:
        left = watched.finish(gently=not stop.is_set())
        os.close(event_reader)
        os.close(life_writer)
    status = child.returncode
    if how is How.FINISHED and status:
        how = How.CRASHED if status < 0 else How.FAILED
    return Ended(how, status, watched.stage, round(time.monotonic() - started, 3), watched.output(), tuple(watched.events), tree.named(left))


class _Watched:
    """One running child: what it has told so far."""

    def __init__(self, launch: Launch, child: subprocess.Popen[bytes], events: int, heard: Heard, seen: Seen) -> None:
        assert child.stdout
        self.launch, self.child, self.heard, self.seen = launch, child, heard, seen
        self.events: list[Event] = []
        self.stage = ""
        self.known: set[tuple[int, int]] = set()
        self._head, self._tail, self._total, self._tail_size = bytearray(), deque[bytes](), 0, 0
        self._partial = {"events": bytearray(), "output": bytearray()}
        self._looked = 0.0
        self._selector = selectors.DefaultSelector()
        for descriptor, kind in ((events, "events"), (child.stdout.fileno(), "output")):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, kind)

    def until_end(self, deadline: float, stop: Flag) -> How:
        while True:
            self._pump(TICK)
            self._look()
            if stop.is_set():
                return How.STOPPED
            if self._has_ended():
                self._pump(0.0)
                return How.FINISHED
            if time.monotonic() >= deadline:
                self._dump()
                return How.HUNG

    def finish(self, gently: bool) -> tuple[tree.Member, ...]:
        """Ends everything and reads what is left in the pipes. Engines whose parent has ended are about to end, and clean up then."""
        self._look(now=True)
        left = tree.end(self.child.pid, self.launch.mark, self.known, tree.GRACE if gently else 0.0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(timeout=tree.PATIENCE)
        for _ in range(100):
            if not self._pump(0.0):
                break
        self._flush()
        self._selector.close()
        assert self.child.stdout
        self.child.stdout.close()
        return left

    def output(self) -> str:
        tail = b"".join(self._tail)
        gap = self._total - len(self._head) - len(tail)
        middle = f"\n[… {gap} bytes left out …]\n".encode() if gap > 0 else b""
        return self._hidden(clean(decode(bytes(self._head) + middle + tail)))

    def _has_ended(self) -> bool:
        # Its status is not taken: as long as nobody has, its number, which is that of its session, is not given to another process.
        try:
            return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except ChildProcessError:
            return True

    def _dump(self) -> None:
        """A hung Python tells where its threads stand."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.child.pid, signal.SIGUSR2)
        until = time.monotonic() + DUMP
        while time.monotonic() < until and not self._has_ended():
            self._pump(TICK)

    def _look(self, now: bool = False) -> None:
        if not now and time.monotonic() < self._looked + LOOK:
            return
        self._looked = time.monotonic()
        found = tree.members(self.child.pid, self.launch.mark, self.known)
        self.known.update(member.identity for member in found)
        self.seen(found)

    def _pump(self, seconds: float) -> bool:
        """Reads what is there within so many seconds; whether anything was."""
        if not self._selector.get_map():
            if seconds:
                time.sleep(seconds)
            return False
        ready = self._selector.select(seconds)
        for key, _ in ready:
            try:
                data = os.read(key.fd, 64 * 1024)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self._selector.unregister(key.fd)
            elif key.data == "events":
                self._feed("events", data)
            else:
                self._keep(data)
                self._feed("output", data)
        return bool(ready)

    def _keep(self, data: bytes) -> None:
        self._total += len(data)
        room = HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
        while self._tail_size > TAIL and len(self._tail) > 1:
            self._tail_size -= len(self._tail.popleft())

    def _feed(self, kind: str, data: bytes) -> None:
        partial = self._partial[kind]
        partial += data
        *lines, rest = bytes(partial).split(b"\n")
        partial[:] = rest if len(rest) <= LONGEST_EVENT else b""
        for line in lines:
            self._line(kind, line)

    def _flush(self) -> None:
        for kind, partial in self._partial.items():
            if partial:
                self._line(kind, bytes(partial))
                partial.clear()

    def _line(self, kind: str, line: bytes) -> None:
        if kind == "output":
            self.heard(Line(self._hidden(clean(decode(line[:LONGEST_EVENT])))))
            return
        event = parse(self._hidden(decode(line)).encode("utf-8", "replace"))
        if event is None or len(self.events) >= MOST_EVENTS:
            return
        if isinstance(event, Stage):
            self.stage = event.name
        self.events.append(event)
        self.heard(event)

    def _hidden(self, text: str) -> str:
        for secret in self.launch.secrets:
            if secret:
                text = text.replace(secret, "***")
        return text
