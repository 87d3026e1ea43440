"""The data of the judge: a series of points, how long is long enough, and the trend that is found in it. Pure data."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from doctor.watch.statistics import median

HOUR = 3600.0
MIB = 1024.0 * 1024.0


class Verdict(enum.Enum):
    """What a series shows, worst last."""

    TOO_SHORT = "too short"
    NO_LEAK = "no leak"
    SUSPECT = "suspect"
    LEAK = "leak"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return list(Verdict).index(self)

    @property
    def bad(self) -> bool:
        return self.rank >= Verdict.SUSPECT.rank


class Unit(enum.Enum):
    """What is counted; it decides what growth is too small to matter."""

    BYTES = "bytes"
    FILES = "files"
    THREADS = "threads"
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True)
class Point:
    """One sample. `t`: seconds on a clock that does not jump; `requests`: finished so far; `running`: at this moment. None: not known."""

    t: float
    value: float
    requests: float | None = None
    running: float | None = None


@dataclass(frozen=True)
class Series:
    """One quantity of one life of one process (or of the host); `started`: when that life began on the clock of the points."""

    name: str
    points: tuple[Point, ...]
    unit: Unit = Unit.BYTES
    started: float | None = None
    limit: float | None = None
    """Where it ends: bytes (files, …) that this quantity may still grow beyond its last value; None: not known."""
    ends: str = ""
    """What ends then: "host memory", "cgroup", "HBM", "/dev/shm", "open files"."""


@dataclass(frozen=True)
class Settings:
    """How long is long enough. All in seconds; `scaled` makes them shorter for a soak test that has only minutes."""

    warmup: float = 900.0
    """After the start of a process: compilation, graph capture and caches fill up once."""
    least_suspect: float = 2 * HOUR
    least_leak: float = 3 * HOUR
    soon: float = 12 * HOUR
    """A leak that ends sooner is critical."""

    @staticmethod
    def for_span(seconds: float) -> Settings:
        """For a watch that is to decide within this time, as a soak test: an eighth is warm-up, two thirds must be enough for a leak."""
        usual = Settings()
        return Settings(min(usual.warmup, seconds / 8), min(usual.least_suspect, seconds / 2), min(usual.least_leak, seconds * 2 / 3))

    def scaled(self, factor: float) -> Settings:
        return replace(self, warmup=self.warmup * factor, least_suspect=self.least_suspect * factor, least_leak=self.least_leak * factor)


FLOOR: dict[Unit, tuple[float, float]] = {
    Unit.BYTES: (16 * MIB, 0.004),
    Unit.FILES: (24.0, 0.10),
    Unit.THREADS: (12.0, 0.15),
    Unit.PROCESSES: (4.0, 0.10),
}
"""Growth over the whole window that is too small to call: an absolute part, and a share of the level; the larger counts.
16 MiB: a healthy vLLM 0.32 drifts by 2 MiB in ten minutes; 0.4 %: heaps of hundreds of GiB never stand quite still."""

@dataclass(frozen=True)
class Trend:
    """The verdict on one series; slopes and `detectable` are per hour in the series' unit."""

    name: str
    verdict: Verdict
    why: str
    """A key of `doctor.watch.words`: "rising", "flat", "flattens", "steps", "given_back", "load_rises", "short", "few", "small"."""
    unit: Unit
    window: float = 0.0
    """Seconds that were judged, after the warm-up."""
    level: float = 0.0
    growth: float = 0.0
    slope: float = 0.0
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    detectable: float | None = None
    per_request: float | None = None
    idle_slope: float | None = None
    """Per hour while nothing runs; None where it was never idle long enough."""
    late_share: float | None = None
    """Slope of the second half as a share of the first half's: 1 is a straight line."""
    seconds_left: float | None = None
    seconds_left_low: float | None = None
    ends: str = ""
    gaps: int = 0
    """Stretches without a sample, longer than five times the usual interval."""
    envelope: tuple[tuple[float, float], ...] = field(default=(), repr=False)


def ordered(points: Sequence[Point]) -> tuple[Point, ...]:
    """In the order of sampling, with a clock that never runs back: a step back is taken as the usual interval."""
    steps = [later.t - earlier.t for earlier, later in zip(points, points[1:], strict=False) if later.t > earlier.t]
    usual = median(steps) or 1.0
    found: list[Point] = []
    shift = 0.0
    for point in points:
        if point.value != point.value or point.t != point.t:
            continue
        if found and point.t + shift <= found[-1].t:
            shift = found[-1].t + usual - point.t
        found.append(replace(point, t=point.t + shift) if shift else point)
    return tuple(found)


__all__ = ["FLOOR", "HOUR", "MIB", "Point", "Series", "Settings", "Trend", "Unit", "Verdict", "ordered"]
