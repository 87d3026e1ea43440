"""Robust statistics of short series, in plain Python: Theil–Sen, Mann–Kendall, autocorrelation. Pure functions; they never raise for numbers.

Contract: series are thinned before they come here (`MOST` points), because Theil–Sen looks at every pair. Times are seconds and rise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 400
"""Points at the most: 80,000 pairs, a few hundredths of a second."""

Z99 = 2.576
"""Of the normal distribution, two-sided 99 %."""


@dataclass(frozen=True)
class Slope:
    """A slope per second with its 99 % interval, the standard error of one that fits the residuals, and Mann–Kendall's p (one-sided, rising)."""

    value: float
    low: float
    high: float
    error: float
    p_rising: float
    intercept: float
    noise: float
    """Spread of the residuals: 1.4826 times their median absolute value, at least a third of their standard deviation."""
    inflation: float
    """By how much autocorrelation widens variances; 1 for none."""

    def rises(self, p: float, errors: float) -> bool:
        """Whether it rises for sure: by Mann–Kendall's p, or, where correlated residuals of a few points hide it, by far (8 standard errors)."""
        return self.value - errors * self.error > 0 and (self.p_rising <= p or self.value > 8 * self.error)


def median(values: Sequence[float]) -> float:
    """The middle value; 0 for none."""
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        return 0.0
    return ordered[count // 2] if count % 2 else (ordered[count // 2 - 1] + ordered[count // 2]) / 2


def autocorrelation(values: Sequence[float], lag: int) -> float:
    """Pearson's correlation of the series with itself `lag` points later; 0 where it cannot be told."""
    count = len(values)
    if lag <= 0 or count - lag < 4:
        return 0.0
    mean = sum(values) / count
    total = sum((value - mean) ** 2 for value in values)
    if total <= 0:
        return 0.0
    return sum((values[i] - mean) * (values[i + lag] - mean) for i in range(count - lag)) / total


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's correlation of two series of one length; 0 where one of them does not vary."""
    count = len(left)
    if count < 3:
        return 0.0
    mean_left, mean_right = sum(left) / count, sum(right) / count
    over_left = sum((value - mean_left) ** 2 for value in left)
    over_right = sum((value - mean_right) ** 2 for value in right)
    if over_left <= 0 or over_right <= 0:
        return 0.0
    return sum((a - mean_left) * (b - mean_right) for a, b in zip(left, right, strict=True)) / math.sqrt(over_left * over_right)


def period(values: Sequence[float]) -> int:
    """The lag of the first clear peak of the autocorrelation (a sawtooth's period, in points); 0 if there is none."""
    below = False
    before = 1.0
    for lag in range(1, len(values) // 3):
        now = autocorrelation(values, lag)
        below = below or now < 0
        if below and before > 0.3 and now < before:
            return lag - 1
        before = now if below else 0.0
    return 0


def theil_sen(times: Sequence[float], values: Sequence[float]) -> Slope | None:
    """The median of all pairs' slopes, with an interval that allows for ties and for positive autocorrelation; None below four points.

    The interval is the wider of two: Sen's (1968), the order statistics at the variance of Kendall's S; and that of a straight line through
    the residuals, whose variance is widened by (1 + r) / (1 - r) for their correlation r at lag one, since memory of one moment resembles
    that of the moment before. The variance behind `p_rising` is widened alike.
    """
    count = len(values)
    if count < 4 or times[-1] <= times[0]:
        return None
    slopes: list[float] = []
    concordance = 0
    for i in range(count - 1):
        t, v = times[i], values[i]
        for j in range(i + 1, count):
            rise = values[j] - v
            concordance += (rise > 0) - (rise < 0)
            if times[j] > t:
                slopes.append(rise / (times[j] - t))
    slopes.sort()
    slope = median(slopes)
    intercept = median([value - slope * t for t, value in zip(times, values, strict=True)])
    residuals = [value - intercept - slope * t for t, value in zip(times, values, strict=True)]
    inflation = _inflation(residuals)
    spread = math.sqrt(max(_variance(values) * inflation, 1e-9))
    z = (concordance - (concordance > 0) + (concordance < 0)) / spread
    half = Z99 * spread / math.sqrt(inflation)
    low, high = slopes[max(0, int((len(slopes) - half) / 2))], slopes[min(len(slopes) - 1, math.ceil((len(slopes) + half) / 2))]
    noise = _noise(residuals)
    error = _error(times, noise, inflation)
    return Slope(
        slope, min(low, slope - Z99 * error), max(high, slope + Z99 * error), error, 0.5 * math.erfc(z / math.sqrt(2)), intercept, noise, inflation,
    )  # fmt: skip


def _variance(values: Sequence[float]) -> float:
    """Of Kendall's S under no trend, with ties."""
    count = len(values)
    ties: dict[float, int] = {}
    for value in values:
        ties[value] = ties.get(value, 0) + 1
    tied = sum(size * (size - 1) * (2 * size + 5) for size in ties.values() if size > 1)
    return (count * (count - 1) * (2 * count + 5) - tied) / 18


def _inflation(residuals: Sequence[float]) -> float:
    r = min(0.9, autocorrelation(residuals, 1) + 1 / len(residuals))  # the estimate is low by about that much
    return (1 + r) / (1 - r) if r > 0.1 else 1.0


def _noise(residuals: Sequence[float]) -> float:
    middle = 1.4826 * median([abs(value) for value in residuals])
    return max(middle, math.sqrt(sum(value * value for value in residuals) / len(residuals)) / 3)


def _error(times: Sequence[float], noise: float, inflation: float) -> float:
    mean = sum(times) / len(times)
    return noise * math.sqrt(inflation / max(sum((t - mean) ** 2 for t in times), 1e-9))


def load_effect(times: Sequence[float], values: Sequence[float], load: Sequence[float]) -> float:
    """How much of the value goes with one unit of load beside a straight trend (least squares); 0 unless it is clear (t above 3)."""
    count = len(values)
    if count < 8:
        return 0.0
    t, v, x = (_centred(series) for series in (times, values, load))
    tt, xx, tx = _dot(t, t), _dot(x, x), _dot(t, x)
    det = tt * xx - tx * tx
    if tt <= 0 or xx <= 0 or det <= 0.1 * tt * xx:
        return 0.0
    effect = (tt * _dot(x, v) - tx * _dot(t, v)) / det
    slope = (xx * _dot(t, v) - tx * _dot(x, v)) / det
    left = sum((c - slope * a - effect * b) ** 2 for a, b, c in zip(t, x, v, strict=True)) / max(1, count - 3)
    error = math.sqrt(left * tt / det)
    return effect if effect > 3 * error else 0.0


def _centred(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
