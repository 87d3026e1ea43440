"""Small plots made of characters: curves cut to so many cells, columns of blocks, lines of letters, an axis. Knows no Textual.

Contract: every line of a chart is at most as wide as asked for; numbers may be anything that `float` holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from doctor.report.style import padded
from doctor.text import cell_width, truncate
from doctor.tui.glyphs import Glyphs

Curve = Sequence[tuple[float, float]]
"""(time in seconds, value), oldest first."""

Values = Sequence[float | None]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""One for each line of a plot; where two meet stands `MANY`."""
MANY = "*"

STILL = 0.02
"""Share of the level that the axis spans at the least: the noise of a quiet process is no mountain."""


def sampled(curves: Sequence[Curve], cells: int) -> list[list[float | None]]:
    """The curves on one common axis of at most so many cells: the mean of each cell, None where there is nothing."""
    finite = [[(t, value) for t, value in curve if math.isfinite(t) and math.isfinite(value)] for curve in curves]
    times = [t for curve in finite for t, _ in curve]
    count = max(1, min(cells, max(map(len, finite), default=1)))
    if not times:
        return [[None] * count for _ in curves]
    begin, span = min(times), (max(times) - min(times)) or 1.0
    found = []
    for curve in finite:
        bins: list[list[float]] = [[] for _ in range(count)]
        for t, value in curve:
            bins[min(count - 1, int((t - begin) / span * count))].append(value)
        found.append(_joined([sum(each) / len(each) if each else None for each in bins]))
    return found


def _joined(values: list[float | None]) -> list[float | None]:
    """Holes between two values take the one before: samples do not come at the pace of cells."""
    known = [index for index, value in enumerate(values) if value is not None]
    for index in range(known[0], known[-1]) if known else ():
        if values[index] is None:
            values[index] = values[index - 1]
    return values


def bounds(series: Sequence[Values], *, from_zero: bool = False, least: float = 1.0) -> tuple[float, float]:
    """Lowest and highest value of the axis; from zero it reaches `least`: one request, all of a cache."""
    values = [value for each in series for value in each if value is not None]
    if from_zero:
        return 0.0, max([least, *values])
    low, high = min(values, default=0.0), max(values, default=0.0)
    span = abs(high) * STILL or 1.0
    if high - low < span:
        middle = (high + low) / 2
        low, high = max(0.0, middle - span / 2), middle + span / 2
    return low, high


def shares(values: Values, low: float, high: float) -> list[float | None]:
    """The values as parts of the axis."""
    return [None if value is None else min(1.0, max(0.0, (value - low) / (high - low))) for value in values]


def sparkline(curve: Curve, cells: int, glyphs: Glyphs, *, from_zero: bool = False) -> str:
    """One line of what a curve did."""
    values = sampled([curve], cells)[0]
    return glyphs.history(shares(values, *bounds([values], from_zero=from_zero)), cells)


def columns(parts: Sequence[float | None], rows: int, glyphs: Glyphs) -> list[str]:
    """A plot of one series, the highest row first."""
    top = len(glyphs.levels) - 1

    def mark(share: float | None, row: int) -> str:
        if share is None:
            return " "
        filled = share * rows - row
        if filled >= 1:
            return glyphs.full
        least = 1 if row == 0 else 0  # a known value leaves a trace
        return glyphs.levels[max(least, round(max(0.0, filled) * top))] if filled > 0 or row == 0 else " "

    return ["".join(mark(share, row) for share in parts) for row in reversed(range(rows))]


def letters(series: Sequence[Sequence[float | None]], rows: int) -> list[str]:
    """A plot of several series, one letter each."""
    count = max(map(len, series), default=0)
    grid = [[" "] * count for _ in range(rows)]
    for letter, parts in zip(LETTERS, series, strict=False):
        for at, share in enumerate(parts):
            if share is not None:
                row = grid[rows - 1 - min(rows - 1, int(share * rows))]
                row[at] = letter if row[at] == " " else MANY
    return ["".join(row) for row in grid]


def chart(body: Sequence[str], high: str, low: str, begin: str, end: str, width: int) -> list[str]:
    """The rows with what the axis means: the highest value beside the first, the lowest beside the last, times below."""
    gutter = max(cell_width(high), cell_width(low)) + 1
    heads = [high, *[""] * (len(body) - 2), low] if len(body) > 1 else [high]
    lines = [padded(head, gutter) + "|" + row for head, row in zip(heads, body, strict=True)]
    room = max(map(len, body), default=0)
    below = begin + " " * max(1, room - cell_width(begin) - cell_width(end)) + end
    return [truncate(line.rstrip(), width, "") for line in (*lines, " " * (gutter + 1) + below)]


def plotted(curves: Sequence[Curve], rows: int, width: int, glyphs: Glyphs, *, from_zero: bool = False, least: float = 1.0) -> tuple[list[str], float, float]:
    """(rows, lowest, highest): columns for one curve, letters for several; few points are drawn wide."""
    series = sampled(curves, width)
    low, high = bounds(series, from_zero=from_zero, least=least)
    wide = max(1, width // max(map(len, series), default=1))
    parts = [[share for share in shares(values, low, high) for _ in range(wide)] for values in series]
    return (columns(parts[0], rows, glyphs) if len(parts) == 1 else letters(parts, rows)), low, high


__all__ = ["LETTERS", "MANY", "bounds", "chart", "columns", "letters", "plotted", "sampled", "shares", "sparkline"]
