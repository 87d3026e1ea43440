"""From samples to series: every quantity of every process life, bounded in memory, the same live and from a file. Pure.

Contract: `History.add` takes samples in order of time; what it holds depends only on them, so that a watch recomputed from its file gives the
same verdicts.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace

from doctor.watch.judge import FLOOR, MIB, Point, Series, Settings, Trend, Unit, Verdict, judge
from doctor.watch.sample import HostSample, ProcessSample, Sample
from doctor.watch.sampler import TICKS

MOST_POINTS = 3000
"""Points of one series; beyond them, neighbours are joined to the lower of the two: for the first time after 25 h at 30 s."""
MOST_TRACKS = 4000

MAIN = ("private", "hbm", "shm")
"""Quantities that are judged even when they stand still, so that "no leak" can be said of them."""

CARRIED = 60.0
"""Seconds."""

UNITS = {"private": Unit.BYTES, "shmem": Unit.BYTES, "hbm": Unit.BYTES, "shm": Unit.BYTES, "fds": Unit.FILES, "threads": Unit.THREADS, "zombies": Unit.PROCESSES}


@dataclass(frozen=True)
class Pages:
    """How the server's own pages came: in how many samples there was an answer, none in time, or a refusal; and how old the oldest was, seconds."""

    answered: int = 0
    late: int = 0
    failed: int = 0
    oldest: float = 0.0

    def after(self, sample: Sample) -> Pages:
        """With one more sample."""
        if sample.waiting is not None:
            return replace(self, late=self.late + 1, oldest=max(self.oldest, sample.waiting))
        if sample.metrics is not None:
            return replace(self, answered=self.answered + 1, oldest=max(self.oldest, sample.page_age))
        return replace(self, failed=self.failed + 1) if sample.health is not None else self


@dataclass(frozen=True)
class Key:
    """Which quantity of which life. `pid` 0: of the host."""

    quantity: str
    pid: int = 0
    started: int = 0
    card: str = ""


class Track:
    """One growing series, 32 bytes a point."""

    def __init__(self, key: Key, role: str, label: str, born: float | None = None) -> None:
        self.key, self.role, self.label, self.born = key, role, label, born
        self.server = ""
        self.times, self.values, self._requests, self._running = (array("d") for _ in range(4))

    def add(self, t: float, value: float, requests: float | None, running: float | None) -> None:
        """The next point; NaN stands for what is not known."""
        columns = (self.times, self.values, self._requests, self._running)
        for column, number in zip(columns, (t, value, math.nan if requests is None else requests, math.nan if running is None else running), strict=True):
            column.append(number)
        if len(self.times) > MOST_POINTS:
            values = self.values
            kept = [index if values[index] <= values[index + 1] else index + 1 for index in range(0, len(values) - 1, 2)]
            kept += [len(values) - 1] if len(values) % 2 else []
            self.times, self.values, self._requests, self._running = (array("d", (column[index] for index in kept)) for column in columns)

    @property
    def points(self) -> tuple[Point, ...]:
        rows = zip(self.times, self.values, self._requests, self._running, strict=True)
        return tuple(Point(t, value, None if requests != requests else requests, None if running != running else running) for t, value, requests, running in rows)

    def curve(self, points: int) -> list[tuple[float, float]]:
        """(t, value), thinned to about so many points."""
        step = max(1, -(-len(self.times) // points))
        return list(zip(self.times[::step], self.values[::step], strict=True))


@dataclass(frozen=True)
class Judged:
    """A trend with whose it is."""

    key: Key
    role: str
    label: str
    trend: Trend
    alive: bool = True
    """Whether the process was there in the last sample."""
    server: str = ""
    """Which server it belongs to, as in `ProcessSample.server`."""

    @property
    def subject(self) -> str:
        """As people name it: "Worker_TP1 (4711)", "/dev/shm", "card 0-0"."""
        if self.key.card:
            return f"NPU {self.key.card}" + (f", {self.label or 'process'} ({self.key.pid})" if self.key.pid else "")
        return f"{self.label} ({self.key.pid})" if self.key.pid else self.label


class History:
    """All series so far."""

    def __init__(self) -> None:
        self.tracks: dict[Key, Track] = {}
        self.last: Sample | None = None
        self.first: Sample | None = None
        self.count = 0
        self.events: list[tuple[float, str]] = []
        self._shift = 0.0
        self._clock = 0.0
        self._requests = self._counted = 0.0
        self._told: tuple[float, float | None, float | None] = (-math.inf, None, None)
        """When the server last answered, on the clock of the points, with the requests served and running."""
        self.pages = Pages()

    def add(self, sample: Sample) -> None:
        """The next sample."""
        t = self._time(sample)
        requests, running = self._served(sample, t)
        self.pages = self.pages.after(sample)
        for process in sample.processes:
            load = (requests, running) if not sample.asked or process.server in ("", sample.asked) else (None, None)  # another server's requests explain nothing
            for quantity, value in _quantities(process):
                key = Key(quantity, process.pid, process.started)
                track = self._track(key, process.role, process.label, process.started / TICKS + self._shift)
                track.server = process.server
                track.add(t, value, *load)
        self._host(sample, t, requests, running)
        for card in sample.cards or ():
            owner = next((process for process in sample.processes if process.pid == card.pid), None)
            key = Key("hbm", card.pid, owner.started if owner else 0, card.card)
            born = owner.started / TICKS + self._shift if owner else None
            track = self._track(key, owner.role if owner else "", owner.label if owner else "", born)
            track.server = owner.server if owner else track.server
            other = bool(sample.asked and owner and owner.server not in ("", sample.asked))
            track.add(t, card.used * MIB, None if other else requests, None if other else running)
        self.events += [(sample.time, event) for event in sample.events]
        del self.events[:-500]
        self.first = self.first or sample
        self.last = sample
        self.count += 1

    def _time(self, sample: Sample) -> float:
        """Seconds on a clock that only rises: uptime, carried on over a reboot by the wall clock."""
        last = self.last
        if last is not None and (sample.boot != last.boot or sample.uptime < last.uptime):
            self._shift = self._clock + max(sample.time - last.time, sample.every) - sample.uptime
        self._clock = sample.uptime + self._shift
        return self._clock

    def _served(self, sample: Sample, t: float) -> tuple[float | None, float | None]:
        """Requests finished so far, over restarts of the server; and those that run. A late answer's predecessor counts for `CARRIED` seconds."""
        if sample.waiting is not None and t - self._told[0] <= CARRIED:
            return self._told[1:]
        told = self._served_now(sample)
        if sample.metrics is not None:
            self._told = (t, *told)
        return told

    def _served_now(self, sample: Sample) -> tuple[float | None, float | None]:
        metrics = sample.metrics or {}
        now = metrics.get("requests", metrics.get("http"))
        if now is not None:
            self._requests += now - self._counted if now >= self._counted else now
            self._counted = now
        running = metrics.get("running")
        if running is None and sample.log is not None and sample.log.age < 60:
            running = sample.log.running
        return (self._requests if now is not None else None), running

    def _host(self, sample: Sample, t: float, requests: float | None, running: float | None) -> None:
        if sample.host.shm is not None:
            self._track(Key("shm"), "", "/dev/shm").add(t, float(sample.host.shm), requests, running)
        dead = sum(process.zombies or 0 for process in sample.processes)
        if dead or Key("zombies") in self.tracks:
            self._track(Key("zombies"), "", "zombies").add(t, float(dead), requests, running)

    def _track(self, key: Key, role: str, label: str, born: float | None = None) -> Track:
        track = self.tracks.get(key)
        if track is None:
            if len(self.tracks) >= MOST_TRACKS:
                self._forget()
            track = self.tracks[key] = Track(key, role, label, born)
        elif label and (track.role != role or track.label != label) and role != "other":
            # A child that renamed itself: what it was before was its start.
            track.role, track.label = role, label
        return track

    def _forget(self) -> None:
        """The shortest of those that have ended longest ago."""
        for key in sorted(self.tracks, key=lambda each: self.tracks[each].times[-1])[: MOST_TRACKS // 4]:
            del self.tracks[key]

    @property
    def seconds(self) -> float:
        """From the first sample to the last."""
        return self._clock - self.begin if self.tracks else 0.0

    @property
    def begin(self) -> float:
        """When the first point was taken, on the clock of the points."""
        return min((track.times[0] for track in self.tracks.values()), default=0.0)

    def judged(self, settings: Settings) -> tuple[Judged, ...]:
        """Every series that has something to say, those of the host last."""
        found = []
        alive = {process.life for process in self.last.processes} if self.last is not None else set()
        for key, track in self.tracks.items():
            if key.quantity not in MAIN and _still(track):
                continue
            if key.quantity == "hbm" and not key.pid and any(other.quantity == "hbm" and other.card == key.card and other.pid for other in self.tracks):
                continue  # the chip as a whole, whose processes are judged one by one
            series = Series(f"{key.quantity} {track.label}", track.points, UNITS[key.quantity], self._born(track))
            found.append(Judged(key, track.role, track.label, judge(series, settings), not key.pid or (key.pid, key.started) in alive or bool(key.card), track.server))
        return tuple(found)

    def _born(self, track: Track) -> float | None:
        """When the life began; for the host's own quantities, when the youngest server process of the first sample did."""
        if track.born is not None:
            return track.born
        births = [other.born for other in self.tracks.values() if other.born is not None and other.key.quantity == "private" and other.role]
        before = [born for born in births if born <= track.times[0]]
        return max(before) if before else None


def _quantities(process: ProcessSample) -> Iterator[tuple[str, float]]:
    for quantity in ("private", "shmem", "fds", "threads"):
        value = getattr(process, quantity)
        if value is not None:
            yield quantity, float(value)


def _still(track: Track) -> bool:
    values = track.values
    absolute, share = FLOOR[UNITS[track.key.quantity]]
    return max(values) - min(values) < max(absolute, share * values[0])


def headroom(host: HostSample) -> tuple[float, str] | None:
    """Bytes until host memory ends, and what ends first."""
    rooms = []
    if host.available is not None:
        rooms.append((float(host.available), "host"))
    if host.cgroup is not None and host.cgroup_limit is not None:
        # Pages of files are given back before the limit kills.
        rooms.append((max(0.0, float(host.cgroup_limit - host.cgroup + (host.cgroup_file or 0) * 0.9)), "cgroup"))
    return min(rooms) if rooms else None


__all__ = ["History", "Judged", "Key", "Pages", "headroom", "Verdict"]
