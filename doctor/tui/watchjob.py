"""What a watch screen works on: a live server or a sample file, and what is seen of it after each look. Knows no Textual.

Contract: `look` blocks; run it in a thread, never two at a time. What it gives is frozen: the screen reads no session.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Protocol

from doctor.host import Host
from doctor.record import dataclass
from doctor.tui.plots import Curve
from doctor.tui.watch import Watch, WatchedHost
from doctor.watch.history import Track
from doctor.watch.judge import Settings
from doctor.watch.outlook import Group
from doctor.watch.sample import LINE_LIMIT, Sample, from_line
from doctor.watch.samplefile import read_samples
from doctor.watch.sampler import Sampler, Target
from doctor.watch.session import Result, Session
from doctor.watch.watcher import Watcher

EVERY = 5.0
"""Seconds between samples while the screen is open."""

POINTS = 240
"""Of a curve that is shown; a screen has fewer cells."""

TRAFFIC = ("running", "waiting", "tokens", "kv")
"""Curves of the server's own page: requests that run and wait, tokens a second, share of the KV cache."""

JUDGE_SHARE = 20
"""Judging many hours of many processes takes a second: the pause between two judgements is so many times as long."""


@dataclass(frozen=True)
class Seen:
    """What a watch knows. Times in seconds; `curves` by (class, quantity): process -> curve; `traffic` by names of `TRAFFIC`."""

    result: Result
    seconds: float
    samples: int
    every: float
    processes: int
    curves: Mapping[tuple[str, str], Mapping[str, Curve]] = field(default_factory=dict)
    traffic: Mapping[str, Curve] = field(default_factory=dict)
    metrics_problem: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)
    live: bool = True
    """Whether this machine is looked at; else samples of a file."""


class Source(Protocol):
    """Something that is watched. `every` 0: it does not change."""

    label: str
    every: float

    def look(self) -> Seen:
        """The next look. Raises OSError where a file cannot be read, `Stopped` after `stop`."""
        ...

    def stop(self) -> None: ...


class _Seeing:
    """A session, and what it does not keep: the traffic."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._traffic: dict[str, deque[tuple[float, float]]] = {name: deque(maxlen=4 * POINTS) for name in TRAFFIC}
        self._generated: tuple[float, float] | None = None
        self._result: Result | None = None
        self._judge_at = float("-inf")

    def heard(self, kind: str, value: Any) -> None:
        """Of the session."""
        if kind != "sample" or not isinstance(value, Sample):
            return
        metrics, t = value.metrics or {}, value.time
        for name in ("running", "waiting", "kv"):
            if name in metrics:
                self._traffic[name].append((t, metrics[name]))
        now = metrics.get("generated")
        before, self._generated = self._generated, None if now is None else (t, now)
        if now is not None and before is not None and t > before[0] and now >= before[1]:
            self._traffic["tokens"].append((t, (now - before[1]) / (t - before[0])))

    def seen(self, session: Session, problems: Mapping[str, str]) -> Seen:
        begin, history = self._clock(), session.history
        if self._result is None or begin >= self._judge_at:
            self._result = _judged(session)
            self._judge_at = self._clock() + JUDGE_SHARE * (self._clock() - begin)
        last = history.last
        return Seen(
            self._result, history.seconds, history.count, last.every if last else 0.0, len(last.processes) if last else 0,
            {group.key: dict(_curves(session, group)) for group in self._result.groups},
            {name: tuple(points) for name, points in self._traffic.items() if points}, last.metrics_problem if last else "", dict(problems),
        )  # fmt: skip


def _judged(session: Session) -> Result:
    """With causes only where something is wrong: the rule book is asked then."""
    result = session.result()
    if not result.verdict.bad and not any(not stall.harmless for stall in result.stalls) and not any(signal.state == "warn" for signal in result.signals):
        return result
    from doctor.rulebook import load

    return session.result(load())


def _curves(session: Session, group: Group) -> Iterator[tuple[str, Curve]]:
    """Those of processes that live come first, and of them those that grow most."""
    for each in sorted(group.members, key=lambda each: (not each.alive, -each.trend.verdict.rank, -each.trend.slope)):
        track = session.history.tracks.get(each.key)
        if track is not None:
            yield each.subject, _curve(track)


def _curve(track: Track) -> Curve:
    """Thinned; the last point stays."""
    curve = track.curve(POINTS)
    end = (track.times[-1], track.values[-1])
    return (*curve, end) if curve[-1] != end else tuple(curve)


class LiveSource:
    """Whatever vLLM, Mooncake and proxies run here. Nothing is written: `doctor watch` keeps samples."""

    def __init__(self, host: Host, every: float = EVERY, sampler: Callable[[Host, float], Sampler] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.label, self.every = host.label, every
        self._watch = Watch()
        self._seeing = _Seeing(clock)
        watched = WatchedHost(host, self._watch)
        made = sampler(watched, every) if sampler is not None else Sampler(watched, Target(), every, own=os.getpid())
        self._watcher = Watcher(watched, made, Settings(), None, self._seeing.heard)

    def look(self) -> Seen:
        self._watcher.step()
        return self._seeing.seen(self._watcher.session, self._watcher.problems)

    def stop(self) -> None:
        self._watch.stop()


class FileSource:
    """A sample file: one that a watch in the background still writes (`every` > 0), or a recorded one."""

    def __init__(self, path: Path, every: float = 0.0, settings: Settings = Settings(), clock: Callable[[], float] = time.monotonic) -> None:  # noqa: B008 - frozen
        self.label, self.every = path.name, every
        self._path = path
        self._seeing = _Seeing(clock)
        self._session = Session(settings, self._seeing.heard)
        self._file, self._offset = 0, 0

    def look(self) -> Seen:
        for sample in self._new():
            self._session.add(sample)
        return replace(self._seeing.seen(self._session, {}), live=self.every > 0)

    def _new(self) -> Iterator[Sample]:
        """All samples at first, with those of the file before; then the lines that have come; after a rotation, the new file."""
        status = self._path.stat()
        if not self._file:
            self._file, self._offset = status.st_ino, status.st_size
            yield from read_samples(self._path)
            return
        if status.st_ino != self._file or status.st_size < self._offset:
            self._file, self._offset = status.st_ino, 0
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while (line := file.readline(LINE_LIMIT)).endswith(b"\n"):
                self._offset += len(line)
                if (sample := from_line(line.decode("utf-8", "replace"))) is not None:
                    yield sample

    def stop(self) -> None:
        """A file keeps nobody waiting."""


def source_of(host: Host, environ: Mapping[str, str]) -> Source:
    """The watch that runs in the background with all that it has seen, else a new one."""
    from doctor.watch.background import running, state_folder

    found = running(state_folder(environ, os.geteuid()))
    return LiveSource(host) if found is None else FileSource(Path(found.samples), EVERY, Settings(*found.settings))


__all__ = ["EVERY", "FileSource", "LiveSource", "Seen", "Source", "TRAFFIC", "source_of"]
