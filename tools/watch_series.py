"""Makes series of memory over time from the figures of public reports, leaking and not, each from its seed. Used by tests and by watch_table.py."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

from doctor.watch.judge import HOUR, MIB, Point, Series

GIB = 1024 * MIB
EVERY = 30.0
"""Seconds between samples."""

LEAKS: dict[str, tuple[float, float, float]] = {
    # name: (bytes a request, bytes an hour, usual level in bytes)
    "90 B a request (block ids kept by the engine core)": (90.0, 0.0, 6 * GIB),
    "68 KB a request (aborted requests in the API server)": (68 * 1024.0, 0.0, 2 * GIB),
    "43 MB/h (NPU memory of one card)": (0.0, 43e6, 58 * GIB),
    "1.67 GB/h (gateway)": (0.0, 1.67e9, 56 * GIB),
    "2 GiB/h (native memory of decode workers)": (0.0, 2 * GIB, 48 * GIB),
    "33 GB/h (mixed load, 0.9.1)": (0.0, 33e9, 60 * GIB),
    "24 GB/h (UCX hooks)": (0.0, 24e9, 40 * GIB),
    "small, 4 to 40 MiB/h": (0.0, -1.0, 3 * GIB),
}
BACKGROUNDS = ("quiet", "noisy", "wandering", "sawtooth", "bursts", "night", "restarts", "gaps", "jumps", "warm-up")
QUIET_KINDS = ("flat", "noisy", "wandering", "warm-up", "cache (exponential)", "cache (linear to its cap)", "logarithmic", "sawtooth", "bursts", "retained bursts", "night", "load rises", "restarts", "gaps", "jumps")


@dataclass(frozen=True)
class Made:
    """One made series: its lives (one a process start), whether it leaks, and by how much an hour while it serves."""

    kind: str
    lives: tuple[Series, ...]
    leaks: bool
    slope: float = 0.0
    hours: float = 0.0


def quiet(seed: int) -> Made:
    """A series without a leak; its kind goes with the seed."""
    rng = random.Random(f"quiet {seed}")
    kind = QUIET_KINDS[seed % len(QUIET_KINDS)]
    return _made(kind, rng, rng.uniform(2.4, 24.0), _background(kind, rng), 0.0, 0.0, False, rng.choice((0.5, 2, 6, 40, 170)) * GIB)


def leaking(seed: int, hours: float | None = None) -> Made:
    """A series with a leak in front of some background."""
    rng = random.Random(f"leak {seed}")
    name = list(LEAKS)[seed % len(LEAKS)]
    a_request, an_hour, level = LEAKS[name]
    an_hour = rng.uniform(4, 40) * MIB if an_hour < 0 else an_hour * rng.uniform(0.8, 1.25)
    background = BACKGROUNDS[(seed // len(LEAKS)) % len(BACKGROUNDS)]
    return _made(name, rng, hours or rng.uniform(3.3, 24.0), background, a_request, an_hour, True, level * rng.uniform(0.5, 1.5))


def filling(seed: int) -> Made:
    """A cache that is still filling when the series ends: nothing can tell it from a leak."""
    rng = random.Random(f"filling {seed}")
    return _made("cache not full at the end", rng, rng.uniform(3.5, 12.0), "endless cache", 0.0, 0.0, False, 6 * GIB)


def _background(kind: str, rng: random.Random) -> str:
    return {"flat": "quiet"}.get(kind, kind)


def _made(kind: str, rng: random.Random, hours: float, background: str, a_request: float, an_hour: float, leaks: bool, level: float) -> Made:
    rate = 10 ** rng.uniform(0.3, 2.5)  # requests a second, 2 to 300
    if a_request > 1000:
        rate = rng.uniform(0.2, 3.0)
    starts = [0.0] + (sorted(rng.uniform(0.15, 0.6) * hours * HOUR for _ in range(rng.randint(1, 2))) if background == "restarts" else [])
    lives = []
    night = background in ("night", "load rises")
    begin = rng.uniform(0, 24)
    served = 0.0
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else hours * HOUR
        maker = _Maker(rng, background, level, (end - start), a_request, an_hour, rate)
        lives.append(maker.series(start, end, begin if night else None))
        served = lives[-1].points[-1].requests or served if lives[-1].points else served
    mean = sum(life.points[-1].requests or 0.0 for life in lives if life.points) / (hours * HOUR)
    return Made(f"{kind}", tuple(lives), leaks, an_hour + a_request * mean * HOUR, hours)


class _Maker:
    """One life of one process."""

    def __init__(self, rng: random.Random, background: str, level: float, span: float, a_request: float, an_hour: float, rate: float) -> None:
        self.rng, self.background, self.level, self.span = rng, background, level, span
        self.a_request, self.an_hour, self.rate = a_request, an_hour, rate
        self.phi = rng.uniform(0.0, 0.95)
        self.sigma = rng.uniform(0.2, 3.0) * MIB * (10 if background == "noisy" else 1)
        if background == "wandering":  # a heap that breathes over 10 to 60 minutes
            self.phi, self.sigma = math.exp(-EVERY / rng.uniform(600, 3600)), rng.uniform(3, 40) * MIB
        self.state = 0.0
        self.warm = rng.uniform(0.2, 0.4) * level if background == "warm-up" else rng.uniform(0.0, 0.05) * level
        self.warm_tau = rng.uniform(60, 300)
        self.cache = rng.uniform(60 * MIB, 0.15 * level)
        self.tau = rng.uniform(0.03, 0.22) * span
        self.full = rng.uniform(0.05, 0.5) * span
        self.tooth, self.height = rng.uniform(60, HOUR), rng.uniform(10, 300) * MIB
        self.load_bytes = rng.uniform(0.005, 0.05) * level
        self.bursts = sorted(rng.uniform(0, span) for _ in range(rng.randint(2, 30)))
        self.steps = sorted(rng.uniform(0.05, 0.95) * span for _ in range(rng.randint(1, 4)))
        self.step_size = rng.uniform(30, 300) * MIB

    def series(self, start: float, end: float, clock: float | None) -> Series:
        points: list[Point] = []
        served, jump = 0.0, 0.0
        gap_until = -1.0
        t = start
        while t < end:
            load = self._load(t, start, clock)
            served += load * self.rate * EVERY * self.rng.uniform(0.9, 1.1)
            value = self._value(t - start, load, served)
            if self.background == "gaps" and t > gap_until and self.rng.random() < 0.004:
                gap_until = t + self.rng.uniform(300, 3600)
            if self.background == "jumps" and self.rng.random() < 0.001:
                jump += self.rng.uniform(-3000, 600)
            missing = t < gap_until or (self.background == "gaps" and self.rng.random() < 0.1)
            if not missing:
                running = math.floor(load * 40 * self.rng.uniform(0.7, 1.3))
                points.append(Point(t + jump, value, served, float(running)))
            t += EVERY
        return Series("made", tuple(points), started=start)

    def _load(self, t: float, start: float, clock: float | None) -> float:
        if self.background == "load rises":
            return 0.1 + 0.9 * (t - start) / self.span
        if clock is None:
            return 1.0
        hour = (clock + t / HOUR) % 24
        return 0.0 if hour < 7 else 1.0 if 9 <= hour < 20 else 0.5

    def _value(self, t: float, load: float, served: float) -> float:
        self.state = self.phi * self.state + self.rng.gauss(0, self.sigma) * math.sqrt(1 - self.phi**2)
        value = self.level + self.state + self.warm * (1 - math.exp(-t / self.warm_tau))
        value += self.an_hour * t / HOUR + self.a_request * served
        background = self.background
        if background == "cache (exponential)":
            value += self.cache * (1 - math.exp(-t / self.tau))
        elif background == "cache (linear to its cap)":
            value += self.cache * min(1.0, t / self.full)
        elif background == "endless cache":
            value += self.cache * t / self.span
        elif background == "logarithmic":
            value += self.cache / 6 * math.log1p(t / 60)
        elif background == "sawtooth":
            value += self.height * (t % self.tooth) / self.tooth
        elif background in ("bursts", "noisy"):
            value += sum(150 * MIB * math.exp(-(t - at) / 300) for at in self.bursts if at <= t < at + 3600)
        elif background == "retained bursts":
            value += sum(self.step_size for at in self.steps if at <= t)
        elif background in ("night", "load rises"):
            value += self.load_bytes * load
        return math.floor(value / 4096) * 4096


def rescaled(series: Series, factor: float) -> Series:
    """The same series with all times multiplied: for recordings in which a second stands for a minute."""
    points = tuple(replace(point, t=point.t * factor) for point in series.points)
    return replace(series, points=points, started=None if series.started is None else series.started * factor)
