"""Follows a server's log through the Host: what is new since the last look, across rotation and truncation; keeps the newest lines.

Contract: never reads more than `STEP` bytes a look, and begins at the end of what is there already.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from doctor.host import KIB, MIB, Host, Unavailable
from doctor.text import clean, decode
from doctor.watch.sample import LogSample

STEP = 4 * MIB
KEPT = 400
"""Newest lines kept, for evidence and for the rules that read logs."""
_HEAD = 256

_NUMBER = r"(\d{1,9}(?:\.\d{1,6})?)"
_THROUGHPUT = re.compile(rf"Avg prompt throughput: {_NUMBER} tokens/s.{{0,200}}?Avg generation throughput: {_NUMBER} tokens/s(.{{0,400}})")
_STATE = (
    ("running", re.compile(rf"Running: {_NUMBER} req")),
    ("waiting", re.compile(rf"(?:Waiting|Pending): {_NUMBER} req")),
    ("kv", re.compile(rf"KV cache usage: {_NUMBER}%")),
)
_SIGNS = (
    ("ready", re.compile(r"Application startup complete")),
    ("broadcast", re.compile(r"No available (?:shared memory broadcast )?block found")),
    ("engine_dead", re.compile(r"EngineDeadError|engine core exited unexpectedly|Engine core proc .{0,40}died|Background loop has errored")),
    ("shutdown", re.compile(r"\[shutdown\] API server: shutdown triggered|Shutting down$")),
    ("rpc_timeout", re.compile(r"RPC call to \w{1,40} timed out")),
)
_ENGINE = re.compile(r"Engine (\d{1,4}):")


class LogTail:
    """One log file, looked at again and again."""

    def __init__(self, host: Host, path: str, *, begin_at_end: bool = True) -> None:
        self._host, self.path = host, path
        self._offset: int | None = None if begin_at_end else 0
        self._head = b""
        self._rest = b""
        self._latest: dict[str, dict[str, float]] = {}
        self._read_at = 0.0
        self.lines: deque[str] = deque(maxlen=KEPT)
        self.problem = ""

    def look(self, now: float) -> tuple[LogSample | None, tuple[str, ...]]:
        """What the log says by now, and events ("log rotated")."""
        info = self._host.stat(self.path)
        if isinstance(info, Unavailable):
            self.problem = str(info)
            return None, ()
        events: tuple[str, ...] = ()
        head = self._host.read_raw(self.path, _HEAD)
        head = head if isinstance(head, bytes) else b""
        if self._offset is None:
            self._start(info.size)
        elif info.size < self._offset or not head.startswith(self._head[: len(head)]):
            events, self._offset, self._rest = ("log rotated",), 0, b""
        self._head = head
        signs = self._new_lines(now)
        self.problem = ""
        return self._sample(now, signs), events

    def _start(self, size: int) -> None:
        """At the end; the last lines are kept for evidence, but what they show is past."""
        begin = max(0, size - 64 * KIB)
        data = self._host.read_raw(self.path, 64 * KIB, begin)
        if isinstance(data, bytes):
            self.lines.extend(clean(decode(data)).split("\n")[1 if begin else 0 : -1])
        self._offset = size

    def _new_lines(self, now: float) -> tuple[str, ...]:
        offset = self._offset or 0
        data = self._host.read_raw(self.path, STEP, offset)
        if not isinstance(data, bytes) or not data:
            return ()
        self._offset = offset + len(data)
        whole, _, self._rest = (self._rest + data).rpartition(b"\n")
        self._rest = self._rest[-64 * KIB :]
        lines = clean(decode(whole)).split("\n") if whole else []
        self.lines.extend(line[:2000] for line in lines)
        return self._hear(lines, now)

    def _hear(self, lines: Iterable[str], now: float) -> tuple[str, ...]:
        signs: dict[str, None] = {}
        for line in lines:
            line = line[:2000]
            for sign, pattern in _SIGNS:
                if pattern.search(line):
                    signs[sign] = None
            found = throughput(line)
            if found is not None:
                engine = _ENGINE.search(line)
                if len(self._latest) < 256:
                    self._latest[engine[1] if engine else ""] = found
                self._read_at = now
        return tuple(signs)

    def _sample(self, now: float, signs: tuple[str, ...]) -> LogSample | None:
        if not self._latest:
            return LogSample(signs=signs) if signs else None

        def total(name: str) -> float | None:
            values = [engine[name] for engine in self._latest.values() if name in engine]
            return sum(values) if values else None

        kv = [engine["kv"] for engine in self._latest.values() if "kv" in engine]
        numbers = {name: total(name) for name in ("prompt", "generation", "running", "waiting")}
        return LogSample(**numbers, kv=max(kv) if kv else None, age=max(0.0, now - self._read_at), signs=signs)


def throughput(line: str) -> dict[str, float] | None:
    """prompt, generation (tokens a second), running, waiting, kv (0 to 1) of vLLM's statistic line; None for any other line."""
    match = _THROUGHPUT.search(line)
    if match is None:
        return None
    found = {"prompt": float(match[1]), "generation": float(match[2])}
    for name, pattern in _STATE:
        state = pattern.search(match[3])
        if state:
            found[name] = float(state[1]) / (100 if name == "kv" else 1)
    return found


__all__ = ["LogTail", "throughput"]
