"""A plot of a watch as SVG, for tickets: one panel a class, its processes as lines, the verdict in words. Pure; all text is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from doctor.locale import Speak
from doctor.text import clean_line
from doctor.watch.amounts import counted, span
from doctor.watch.outlook import Group
from doctor.watch.render import class_name
from doctor.watch.session import Session

WIDTH, PANEL, LEFT, RIGHT, TOP = 860, 170, 90, 20, 46
POINTS = 400
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#0e7490", "#bf3989", "#57606a")
"""Told apart by lightness, too; the legend names each line in words."""

Curve = Sequence[tuple[float, float]]


def plot(session: Session, speak: Speak) -> str:
    """The whole picture: memory of every class, and every other quantity that grows."""
    groups = [group for group in session.groups() if group.quantity in ("private", "hbm") or group.verdict.bad]
    panels = []
    for group in groups:
        lines = _curves(session, group)
        if any(len(line) > 1 for line in lines.values()):
            panels.append((group, lines))
    end = max((t for _, lines in panels for line in lines.values() for t, _ in line), default=1.0) or 1.0
    height = TOP + max(1, len(panels)) * PANEL
    body = "".join(part for index, (group, lines) in enumerate(panels) for part in _panel(TOP + index * PANEL, group, lines, end, speak))
    first = session.history.first
    title = escape(f"doctor watch, {span(session.history.seconds)}, {session.history.count} samples" if first else "doctor watch")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/><text x="{LEFT}" y="24" font-size="15" font-weight="bold">{title}</text>{body}</svg>\n'
    )


def _curves(session: Session, group: Group) -> dict[str, Curve]:
    begin = session.history.begin
    tracks = ((each.subject, session.history.tracks.get(each.key)) for each in group.members)
    found: dict[str, Curve] = {subject: [(t - begin, value) for t, value in track.curve(POINTS)] for subject, track in tracks if track is not None}
    return found


def _panel(top: int, group: Group, lines: Mapping[str, Curve], end: float, speak: Speak) -> Iterator[str]:
    values = [value for line in lines.values() for _, value in line]
    low, high = min(values), max(values)
    margin = max((high - low) * 0.1, abs(high) * 0.002, 1.0)
    low, high = low - margin, high + 3 * margin  # the legend stands above the lines
    unit = group.worst.trend.unit
    inner = PANEL - 56
    said = f"{class_name(group, speak)}: {speak(group.verdict.value)}"
    said += f", +{counted(group.slope, unit)}/h" if group.verdict.bad else ""
    yield f'<text x="{LEFT}" y="{top + 14}" font-weight="bold">{escape(clean_line(said))}</text>'
    yield f'<rect x="{LEFT}" y="{top + 20}" width="{WIDTH - LEFT - RIGHT}" height="{inner}" fill="none" stroke="#8c959f"/>'
    for share in (0.0, 0.5, 1.0):
        y = top + 20 + inner * (1 - share)
        yield f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{escape(counted(low + share * (high - low), unit))}</text>'
        x = LEFT + (WIDTH - LEFT - RIGHT) * share
        anchor = ("start", "middle", "end")[int(share * 2)]
        yield f'<text x="{x:.0f}" y="{top + 20 + inner + 14}" text-anchor="{anchor}">{escape(span(end * share))}</text>'
    for index, (subject, line) in enumerate(lines.items()):
        points = " ".join(
            f"{LEFT + (WIDTH - LEFT - RIGHT) * t / end:.1f},{top + 20 + inner * (1 - (value - low) / (high - low)):.1f}" for t, value in line if math.isfinite(value)
        )
        colour = COLOURS[index % len(COLOURS)]
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="1.4" points="{points}"><title>{escape(clean_line(subject))}</title></polyline>'
        if len(lines) <= 8:
            yield f'<text x="{LEFT + 6 + (index % 4) * 185}" y="{top + 34 + (index // 4) * 13}" fill="{colour}">{escape(clean_line(subject)[:28])}</text>'


__all__ = ["plot"]
