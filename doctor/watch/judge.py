"""Judges one series over time: a leak, none, or too short to tell. Pure: no clock, no host, no files.

Contract: `judge` never raises for numbers, and says "no leak" only together with the smallest leak that the series could have shown.
How well it does is measured by `tools/watch_table.py`; the table stands in docs/watch.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from doctor.watch.series import FLOOR, HOUR, MIB, Point, Series, Settings, Trend, Unit, Verdict, ordered
from doctor.watch.statistics import Z99, Slope, correlation, load_effect, median, period, theil_sen

BINS = 48
LEAST_BINS = 12
SURE = 0.01
"""Mann–Kendall's p from which a rise counts."""
POWER = 11.0
"""Standard errors of the slope that a leak needs to be found in 95 of 100 series: its second half alone must rise for sure."""
FLATTENS = 0.45
"""A slope in the second half below this share of the first half's is a cache that fills: logarithmic growth has 0.2 to 0.33, a straight line 1."""


def judge(series: Series, settings: Settings = Settings()) -> Trend:  # noqa: B008 - frozen
    """The verdict on one series."""
    points = _after_warmup(ordered(series.points), series.started, settings)
    gaps = _gaps(points)
    if len(points) < LEAST_BINS or points[-1].t - points[0].t <= 0:
        return Trend(series.name, Verdict.TOO_SHORT, "few", series.unit, gaps=gaps, level=points[-1].value if points else 0.0)
    bins = _Bins.of(points)
    whole = theil_sen(bins.times, bins.values)
    window = points[-1].t - points[0].t
    if whole is None or len(bins.values) < LEAST_BINS // 2:
        return Trend(series.name, Verdict.TOO_SHORT, "few", series.unit, window, points[-1].value, gaps=gaps)
    axis = _axis(bins, whole)
    facts = _Facts(series, points, bins, whole, axis, theil_sen(axis, bins.values) or whole, window, gaps)
    trend = facts.trend(*_decide(facts, settings))
    return _with_end(trend, series, settings)


def _after_warmup(points: tuple[Point, ...], started: float | None, settings: Settings) -> tuple[Point, ...]:
    if not points:
        return ()
    begin = (points[0].t if started is None else started) + settings.warmup
    return tuple(point for point in points if point.t >= begin)


def _gaps(points: Sequence[Point]) -> int:
    steps = [later.t - earlier.t for earlier, later in zip(points, points[1:], strict=False)]
    usual = median(steps)
    return sum(step > 5 * usual for step in steps) if usual > 0 else 0


@dataclass(frozen=True)
class _Bins:
    """The lower envelope: the least value of each stretch of time, with what was served until then."""

    times: list[float]
    values: list[float]
    requests: list[float] | None
    load: list[float] | None

    @staticmethod
    def of(points: Sequence[Point]) -> _Bins:
        count = min(BINS, max(LEAST_BINS, len(points) // 4))
        fine = _Bins.cut(points, count)
        slope = theil_sen(fine.times, fine.values)
        if slope is None:
            return fine
        residuals = [value - slope.intercept - slope.value * t for t, value in zip(fine.times, fine.values, strict=True)]
        waves = period(residuals)
        # A bin as long as a sawtooth's tooth holds one low point each; fewer than eight bins tell nothing.
        return _Bins.cut(points, max(8, count // waves)) if waves > 1 else fine

    @staticmethod
    def cut(points: Sequence[Point], count: int) -> _Bins:
        begin, width = points[0].t, (points[-1].t - points[0].t) / count
        groups: dict[int, list[Point]] = {}
        for point in points:
            groups.setdefault(min(count - 1, int((point.t - begin) / width)), []).append(point)
        lows = [min(group, key=lambda point: point.value) for _, group in sorted(groups.items())]
        loads = [[p.running for p in group if p.running is not None] for _, group in sorted(groups.items())]
        requests = [point.requests for point in lows]
        return _Bins(
            [point.t - begin for point in lows],
            [point.value for point in lows],
            _filled(requests),
            [sum(load) / len(load) for load in loads] if all(loads) else None,
        )


def _filled(requests: Sequence[float | None]) -> list[float] | None:
    """Requests until each bin; where a sample does not tell (the endpoint was dead), those of the bin before. None where too few tell."""
    told = [value for value in requests if value is not None]
    if len(told) < max(4, len(requests) // 2):
        return None
    found: list[float] = []
    for value in requests:
        found.append(value if value is not None else found[-1] if found else told[0])
    return found


@dataclass(frozen=True)
class _Facts:
    """What the decision looks at."""

    series: Series
    points: tuple[Point, ...]
    bins: _Bins
    whole: Slope
    """Against time."""
    axis: list[float]
    """What the value follows better: time, or the requests served."""
    along: Slope
    """Against that axis."""
    window: float
    gaps: int

    @property
    def floor(self) -> float:
        absolute, share = FLOOR[self.series.unit]
        return max(absolute, share * abs(median(self.bins.values)))

    @property
    def detectable(self) -> float:
        """Per second."""
        return max(1.25 * self.floor / self.window, POWER * self.along.error * (self.axis[-1] - self.axis[0]) / self.window)

    def trend(self, verdict: Verdict, why: str, late: float | None, used: Slope) -> Trend:
        level = self.bins.values[-1]
        return Trend(
            self.series.name, verdict, why, self.series.unit, self.window, level, used.value * self.window, used.value * HOUR, used.low * HOUR,
            used.high * HOUR, used.p_rising, self.detectable * HOUR, _per_request(self.bins), _idle_slope(self.points), late, gaps=self.gaps,
            ends=self.series.ends, envelope=tuple((self.points[0].t + t, v) for t, v in zip(self.bins.times, self.bins.values, strict=True)),
        )  # fmt: skip


def _decide(facts: _Facts, settings: Settings) -> tuple[Verdict, str, float | None, Slope]:
    bins, whole = facts.bins, facts.whole
    if facts.window < settings.least_suspect * 0.98:
        return Verdict.TOO_SHORT, "short", None, whole
    values, along = bins.values, facts.along
    capped = False
    if bins.load is not None:
        effect = load_effect(bins.times, values, bins.load)
        if effect and facts.axis is bins.times:
            mean = sum(bins.load) / len(bins.load)
            values = [value - effect * (load - mean) for value, load in zip(values, bins.load, strict=True)]
            along = whole = theil_sen(bins.times, values) or whole
        capped = correlation(bins.times, bins.load) > 0.8 and max(bins.load) > 1.5 * max(min(bins.load), 0.5)
    if along.low <= 0 or not along.rises(SURE, Z99):
        return Verdict.NO_LEAK, "flat", None, whole
    if along.value * (facts.axis[-1] - facts.axis[0]) < facts.floor:
        return Verdict.NO_LEAK, "small", None, whole
    late, flattens = _flattening(facts.axis, values)
    if flattens:
        return Verdict.NO_LEAK, "flattens", late, whole
    if _steps(facts.axis, values, facts.floor):
        return Verdict.NO_LEAK, "steps", late, whole
    if capped:
        return Verdict.SUSPECT, "load_rises", late, whole
    if facts.window < settings.least_leak * 0.98:
        return Verdict.SUSPECT, "rising", late, whole
    return Verdict.LEAK, "rising", late, whole


def _axis(bins: _Bins, by_time: Slope) -> list[float]:
    """Time, or the requests served where the value follows those clearly better (it stands still at night)."""
    served = bins.requests
    if served is None or served[-1] - served[0] < 50 or any(later < earlier for earlier, later in zip(served, served[1:], strict=False)):
        return bins.times
    by_work = theil_sen(served, bins.values)
    return bins.times if by_work is None or by_work.noise > 0.7 * by_time.noise else served


def _flattening(axis: list[float], values: list[float]) -> tuple[float | None, bool]:
    """The slope of the second half as a share of the first's, and whether it says that growth comes to its end."""
    middle = (axis[0] + axis[-1]) / 2
    half = next((index for index, at in enumerate(axis) if at >= middle), len(axis) // 2)
    half = min(max(half, 4), len(axis) - 4)
    early, late = theil_sen(axis[:half], values[:half]), theil_sen(axis[half:], values[half:])
    overall = theil_sen(axis, values)
    if early is None or late is None or overall is None:
        return None, False
    share = late.value / early.value if early.value > 0 else 1.0
    if share < FLATTENS or not late.rises(0.05, 1.64):
        return share, True
    quarter = max(6, len(axis) // 4)
    last = theil_sen(axis[-quarter:], values[-quarter:])
    return share, last is not None and last.value + 2 * last.error < 0.5 * overall.value


def _steps(times: list[float], values: list[float], floor: float) -> bool:
    """Whether a few jumps make up the growth: new largest shapes, retained bursts."""
    usual_step = median([later - earlier for earlier, later in zip(times, times[1:], strict=False) if later > earlier]) or 1.0
    spans = [max(1.0, (later - earlier) / usual_step) for earlier, later in zip(times, times[1:], strict=False)]  # a gap holds more than one step
    rises = [(later - earlier) / span for earlier, later, span in zip(values, values[1:], spans, strict=False)]
    usual = 1.4826 * median([abs(rise - median(rises)) for rise in rises])
    growth = values[-1] - values[0]
    jumps = [index for index, rise in enumerate(rises) if rise > max(6 * usual, 0.12 * growth)]
    if not jumps or len(jumps) > 4:
        return False
    kept, lowered = [values[0]], 0.0
    for index, (rise, wide) in enumerate(zip(rises, spans, strict=True)):
        lowered += rise * wide if index in jumps else 0.0
        kept.append(values[index + 1] - lowered)
    rest = theil_sen(times, kept)
    return rest is None or rest.low <= 0 or rest.value * (times[-1] - times[0]) < max(floor, 0.3 * growth)


def _per_request(bins: _Bins) -> float | None:
    if bins.requests is None or bins.requests[-1] - bins.requests[0] < 50:
        return None
    rising = [(r, v) for i, (r, v) in enumerate(zip(bins.requests, bins.values, strict=True)) if i == 0 or r > bins.requests[i - 1]]
    slope = theil_sen([r for r, _ in rising], [v for _, v in rising])
    return slope.value if slope else None


def _idle_slope(points: Sequence[Point]) -> float | None:
    """Per hour, over the longest stretch in which nothing ran; None where that is too short to tell."""
    best: list[Point] = []
    run: list[Point] = []
    for point in points:
        run = [*run, point] if point.running == 0 else []
        best = run if len(run) > len(best) else best
        if len(run) > 2000:
            break
    if len(best) < 20 or best[-1].t - best[0].t < 0.05 * (points[-1].t - points[0].t):
        return None
    settled = best[len(best) // 4 :]  # what the last requests held is given back first
    thin = settled[:: max(1, len(settled) // 60)]
    slope = theil_sen([p.t for p in thin], [p.value for p in thin])
    return slope.value * HOUR if slope else None


def _with_end(trend: Trend, series: Series, settings: Settings) -> Trend:
    if not trend.verdict.bad or series.limit is None or trend.slope <= 0:
        return trend
    left = max(0.0, series.limit) / trend.slope * HOUR
    soonest = max(0.0, series.limit) / max(trend.high, trend.slope) * HOUR
    return replace(trend, seconds_left=left, seconds_left_low=soonest, verdict=Verdict.CRITICAL if left < settings.soon else trend.verdict)


__all__ = ["FLOOR", "HOUR", "MIB", "Point", "Series", "Settings", "Trend", "Unit", "Verdict", "judge", "ordered"]
