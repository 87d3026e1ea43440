"""One look at a running server as data, and its line in the sample file. Pure; reading a line never raises."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

VERSION = 1
"""Of the lines; a reader skips lines of a newer one."""

LINE_LIMIT = 1 << 20
"""Bytes of one line at the most: 500 processes need 60 KB."""


@dataclass(frozen=True)
class ProcessSample:
    """One process at one moment. Memory in bytes; None: could not be read. `started`: clock ticks since boot, which with the pid names a life."""

    pid: int
    started: int
    role: str
    """"api", "engine", "worker", "mooncake", "proxy", "other"."""
    label: str
    """As people know it: "Worker_TP1", "mooncake_master", "python3 serve.py"."""
    anon: int | None = None
    file: int | None = None
    shmem: int | None = None
    swap: int | None = None
    virtual: int | None = None
    fds: int | None = None
    fd_limit: int | None = None
    threads: int | None = None
    children: int | None = None
    zombies: int | None = None
    state: str = ""
    minor_faults: int | None = None
    major_faults: int | None = None
    cpu: float | None = None
    """Seconds of processor time so far."""
    server: str = ""
    """Which server it belongs to, by its port (":8000") or else its process ("pid 4711"); "": to none, or not told."""

    @property
    def life(self) -> tuple[int, int]:
        return self.pid, self.started

    @property
    def private(self) -> int | None:
        """What a leak of this process's own grows: anonymous memory, swapped out or not."""
        return None if self.anon is None else self.anon + (self.swap or 0)


@dataclass(frozen=True)
class HostSample:
    """Memory of the host and of the cgroup that the server runs in, bytes; None: not known or without a limit."""

    available: int | None = None
    total: int | None = None
    cgroup: int | None = None
    cgroup_limit: int | None = None
    cgroup_anon: int | None = None
    cgroup_file: int | None = None
    cgroup_shmem: int | None = None
    shm: int | None = None
    """Sizes of the files in /dev/shm together."""
    shm_files: int | None = None
    shm_size: int | None = None


@dataclass(frozen=True)
class CardSample:
    """NPU memory of one process on one chip, or of the whole chip where `pid` is 0; MB as npu-smi counts."""

    card: str
    """"NPU-chip", "0-0"."""
    pid: int
    used: int
    total: int | None = None


@dataclass(frozen=True)
class LogSample:
    """The newest line of throughput: tokens a second, requests, share of the KV cache (0 to 1); `age` in seconds since it was read."""

    prompt: float | None = None
    generation: float | None = None
    running: float | None = None
    waiting: float | None = None
    kv: float | None = None
    age: float = 0.0
    signs: tuple[str, ...] = ()
    """Keys of what was seen in the log since the last sample: "ready", "broadcast", "engine_dead", "shutdown", "rpc_timeout"."""


@dataclass(frozen=True)
class Sample:
    """Everything at one moment. `time`: seconds since the epoch; `uptime`: seconds since boot, which do not jump; `boot`: which boot."""

    time: float
    uptime: float
    boot: str = ""
    every: float = 30.0
    processes: tuple[ProcessSample, ...] = ()
    host: HostSample = HostSample()
    cards: tuple[CardSample, ...] | None = None
    """None: not asked this time (npu-smi is asked more seldom)."""
    metrics: Mapping[str, float] | None = None
    """Names of `doctor.watch.metrics`; None: there was no answer."""
    metrics_problem: str = ""
    health: int | None = None
    """HTTP status of /health; 0: no answer in time; None: not asked."""
    log: LogSample | None = None
    events: tuple[str, ...] = ()
    """What happened since the sample before: "resumed", "gone api 12 …", "started api 34 …", "log rotated", "clock -3600 s"."""
    note: bool = False
    """Only its events count: what was learnt after the last sample."""
    page_age: float = 0.0
    """Seconds, at the most, by which `metrics` and `health` are older than the rest; an answer is told in one sample only."""
    asked: str = ""
    """Whose pages and log these are, as in `ProcessSample.server`; "": not told, or there is but one."""
    waiting: float | None = None
    """Seconds for which the server's answer has been waited for, where `metrics` and `health` are None because none has come; None: it is not waited for."""

    @property
    def page_time(self) -> float:
        """When the server told `metrics`, seconds since the epoch, at the earliest."""
        return self.time - self.page_age


def to_line(sample: Sample) -> str:
    """One line of JSON, short: process rows are lists in the order of the fields, without trailing nulls."""
    record: dict[str, Any] = {"v": VERSION, "t": round(sample.time, 3), "u": round(sample.uptime, 2), "every": sample.every}
    record["p"] = [_row(process) for process in sample.processes]
    record["h"] = {name: value for name, value in _pairs(sample.host) if value is not None}
    optional: dict[str, Any] = {
        "b": sample.boot, "c": None if sample.cards is None else [_row(card) for card in sample.cards], "m": sample.metrics, "mp": sample.metrics_problem,
        "hl": sample.health, "l": None if sample.log is None else {name: value for name, value in _pairs(sample.log) if value not in (None, ())},
        "e": list(sample.events), "n": sample.note or None, "pa": round(sample.page_age, 2) or None,
        "a": sample.asked,
        "w": None if sample.waiting is None else round(sample.waiting, 2),
    }  # fmt: skip
    record |= {key: value for key, value in optional.items() if value not in (None, "", [])}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _pairs(record: HostSample | LogSample) -> list[tuple[str, Any]]:
    return [(item.name, getattr(record, item.name)) for item in fields(record)]


def _row(record: ProcessSample | CardSample) -> list[Any]:
    row = [getattr(record, item.name) for item in fields(record)]
    while row and row[-1] in (None, ""):
        row.pop()
    return row


def from_line(line: str) -> Sample | None:
    """The sample of a line; None where it is none (cut short by a crash, foreign, of a newer version)."""
    try:
        record = json.loads(line[:LINE_LIMIT])
        return _sample(record) if isinstance(record, dict) and record.get("v") == VERSION and "t" in record else None
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return None


def _sample(record: Mapping[str, Any]) -> Sample:
    time, uptime = _float(record["t"]), _float(record.get("u"))
    if time is None:
        raise ValueError("no time")
    metrics = record.get("m")
    log = record.get("l")
    return Sample(
        time,
        time if uptime is None else uptime,
        str(record.get("b", ""))[:64],
        _float(record.get("every")) or 30.0,
        tuple(found for row in _list(record.get("p"))[:4096] if (found := _process(row)) is not None),
        HostSample(**{name: _whole(value) for name, value in _mapping(record.get("h")).items() if name in _HOST}),
        None if record.get("c") is None else tuple(card for row in _list(record["c"])[:1024] if (card := _card(row)) is not None),
        {str(k)[:80]: f for k, v in metrics.items() if (f := _float(v)) is not None} if isinstance(metrics, dict) else None,
        str(record.get("mp", ""))[:400],
        _whole(record.get("hl")),
        _log(log) if isinstance(log, dict) else None,
        tuple(str(event)[:4096] for event in _list(record.get("e"))[:200]),
        bool(record.get("n")),
        max(0.0, _float(record.get("pa")) or 0.0),
        str(record.get("a", ""))[:40],
        _float(record.get("w")),
    )


_HOST = {item.name for item in fields(HostSample)}
_PROCESS = [item.name for item in fields(ProcessSample)]


def _process(row: Any) -> ProcessSample | None:
    values = dict(zip(_PROCESS, _list(row), strict=False))
    pid, started = _whole(values.get("pid")), _whole(values.get("started"))
    if pid is None or started is None:
        return None
    texts = {name: str(values.get(name) or "")[:120] for name in ("role", "label", "state", "server")}
    numbers = {name: _whole(values.get(name)) for name in _PROCESS[4:] if name not in ("state", "cpu", "server")}
    return ProcessSample(pid, started, cpu=_float(values.get("cpu")), **texts, **numbers)  # type: ignore[arg-type]


def _card(row: Any) -> CardSample | None:
    values = _list(row)
    pid, used = (_whole(value) for value in (values + [None] * 3)[1:3])
    return None if pid is None or used is None else CardSample(str(values[0])[:20], pid, used, _whole(values[3]) if len(values) > 3 else None)


def _log(record: Mapping[str, Any]) -> LogSample:
    numbers = {name: _float(record.get(name)) for name in ("prompt", "generation", "running", "waiting", "kv")}
    return LogSample(age=_float(record.get("age")) or 0.0, signs=tuple(str(sign)[:20] for sign in _list(record.get("signs"))[:20]), **numbers)


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) else None


def _whole(value: Any) -> int | None:
    number = _float(value)
    return None if number is None or abs(number) > 1e18 else int(number)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


__all__ = ["CardSample", "HostSample", "LINE_LIMIT", "LogSample", "ProcessSample", "Sample", "from_line", "to_line"]
