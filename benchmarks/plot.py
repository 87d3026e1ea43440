"""Draws time against size as an SVG that reads on a light and on a dark page: one small picture a kind, with the line of linear growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 250, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 40
COLUMNS = 3

_STYLE = (
    "<style>text{font:12px sans-serif;fill:#57606a}.t{font-weight:bold}.a{stroke:#8c959f;fill:none}.l{stroke:#8c959f;stroke-dasharray:4 4;fill:none}"
    ".m{stroke:#0969da;stroke-width:2;fill:none}circle{fill:#0969da}@media(prefers-color-scheme:dark){text{fill:#9198a1}.m{stroke:#4493f8}circle{fill:#4493f8}}</style>"
)


@dataclass(frozen=True)
class Curve:
    """Seconds by size of one kind, the smallest first."""

    kind: str
    unit: str
    points: tuple[tuple[int, float], ...]


def svg(curves: Sequence[Curve]) -> str:
    """The pictures, three in a row."""
    rows = -(-len(curves) // COLUMNS)
    parts = [part for number, curve in enumerate(curves) for part in _picture(curve, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH} {rows * HEIGHT}" role="img">'
    return "\n".join([head, "<title>Time against size</title>", _STYLE, *parts, "</svg>"]) + "\n"


def _picture(curve: Curve, x: int, y: int) -> Iterator[str]:
    widest, slowest = curve.points[-1][0], max(seconds for _, seconds in curve.points) * 1.1 or 1.0
    first_size, first_seconds = curve.points[0]

    def place(size: float, seconds: float) -> str:
        across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return f"{x + LEFT + across * size / widest:.1f},{y + HEIGHT - BOTTOM - up * seconds / slowest:.1f}"

    linear = first_seconds * widest / first_size
    end = (widest, linear) if linear <= slowest else (widest * slowest / linear, slowest)
    yield f'<text class="t" x="{x + LEFT}" y="{y + 18}">{escape(curve.kind)}</text>'
    yield f'<polyline class="a" points="{place(0, slowest)} {place(0, 0)} {place(widest, 0)}"/>'
    yield f'<polyline class="l" points="{place(0, 0)} {place(*end)}"/>'
    yield f'<polyline class="m" points="{" ".join(place(*point) for point in curve.points)}"/>'
    for point in curve.points:
        across, up = place(*point).split(",")
        yield f'<circle cx="{across}" cy="{up}" r="3"/>'
    yield f'<text x="{x + WIDTH - RIGHT}" y="{y + HEIGHT - 24}" text-anchor="end">{widest}</text>'
    yield f'<text x="{x + LEFT}" y="{y + HEIGHT - 8}">{escape(curve.unit)}</text>'
    yield f'<text x="{x + LEFT - 6}" y="{y + TOP + 12}" text-anchor="end">{slowest / 1.1:.2g} s</text>'
