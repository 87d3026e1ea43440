"""From samples to series: every quantity of every process life, bounded in memory, the same live and from a file. Pure.

Contract: `History.add` takes samples in order of time; what it holds depends only on them, so that a watch recomputed from its file gives the
same verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from doctor.watch.judge import FLOOR, MIB, Point, Series, Settings, Trend, Unit, Verdict, judge
from doctor.watch.sample import HostSample, ProcessSample, Sample
from doctor.watch.sampler import TICKS

MOST_POINTS = 6000
"""Points of one series; beyond them, neighbours are joined to the lower of the two: 50 h at 30 s before the first time."""
MOST_TRACKS = 4000

MAIN = ("private", "hbm", "shm")
"""Quantities that are judged even when they stand still, so that "no leak" can be said of them."""

UNITS = {"private": Unit.BYTES, "shmem": Unit.BYTES, "hbm": Unit.BYTES, "shm": Unit.BYTES, "fds": Unit.FILES, "threads": Unit.THREADS, "zombies": Unit.PROCESSES}


@dataclass(frozen=True)
class Key:
    """Which quantity of which life. `pid` 0: of the host."""

    quantity: str
    pid: int = 0
    started: int = 0
    card: str = ""


@dataclass
class Track:
    """One growing series."""

    key: Key
    role: str
    label: str
    born: float | None = None
    points: list[Point] = field(default_factory=list)

    def add(self, point: Point) -> None:
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            pairs = zip(self.points[::2], self.points[1::2], strict=False)
            self.points = [min(pair, key=lambda each: each.value) for pair in pairs] + (self.points[-1:] if len(self.points) % 2 else [])


@dataclass(frozen=True)
class Judged:
    """A trend with whose it is."""

    key: Key
    role: str
    label: str
    trend: Trend
    alive: bool = True
    """Whether the process was there in the last sample."""

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

    def add(self, sample: Sample) -> None:
        """The next sample."""
        t = self._time(sample)
        requests, running = self._served(sample)
        for process in sample.processes:
            for quantity, value in _quantities(process):
                key = Key(quantity, process.pid, process.started)
                self._track(key, process.role, process.label, process.started / TICKS + self._shift).add(Point(t, value, requests, running))
        self._host(sample, t, requests, running)
        for card in sample.cards or ():
            owner = next((process for process in sample.processes if process.pid == card.pid), None)
            key = Key("hbm", card.pid, owner.started if owner else 0, card.card)
            self._track(key, owner.role if owner else "", owner.label if owner else "").add(Point(t, card.used * MIB, requests, running))
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

    def _served(self, sample: Sample) -> tuple[float | None, float | None]:
        """Requests finished so far, over restarts of the server; and those that run."""
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
            self._track(Key("shm"), "", "/dev/shm").add(Point(t, sample.host.shm, requests, running))
        dead = sum(process.zombies or 0 for process in sample.processes)
        if dead or Key("zombies") in self.tracks:
            self._track(Key("zombies"), "", "zombies").add(Point(t, dead, requests, running))

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
        for key in sorted(self.tracks, key=lambda each: self.tracks[each].points[-1].t)[: MOST_TRACKS // 4]:
            del self.tracks[key]

    @property
    def seconds(self) -> float:
        """From the first sample to the last."""
        starts = [track.points[0].t for track in self.tracks.values() if track.points]
        return self._clock - min(starts) if starts else 0.0

    def judged(self, settings: Settings) -> tuple[Judged, ...]:
        """Every series that has something to say, those of the host last."""
        found = []
        alive = {process.life for process in self.last.processes} if self.last is not None else set()
        for key, track in self.tracks.items():
            if key.quantity not in MAIN and _still(track):
                continue
            if key.quantity == "hbm" and not key.pid and any(other.quantity == "hbm" and other.card == key.card and other.pid for other in self.tracks):
                continue  # the chip as a whole, whose processes are judged one by one
            series = Series(f"{key.quantity} {track.label}", tuple(track.points), UNITS[key.quantity], self._born(track))
            found.append(Judged(key, track.role, track.label, judge(series, settings), not key.pid or (key.pid, key.started) in alive or bool(key.card)))
        return tuple(found)

    def _born(self, track: Track) -> float | None:
        """When the life began; for the host's own quantities, when the youngest server process of the first sample did."""
        if track.born is not None:
            return track.born
        births = [other.born for other in self.tracks.values() if other.born is not None and other.key.quantity == "private" and other.role]
        before = [born for born in births if born <= track.points[0].t]
        return max(before) if before else None


def _quantities(process: ProcessSample) -> Iterator[tuple[str, float]]:
    for quantity in ("private", "shmem", "fds", "threads"):
        value = getattr(process, quantity)
        if value is not None:
            yield quantity, float(value)


def _still(track: Track) -> bool:
    values = [point.value for point in track.points]
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


__all__ = ["History", "Judged", "Key", "headroom", "Verdict"]
