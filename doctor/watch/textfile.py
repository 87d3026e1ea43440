"""A watch as a file for Prometheus' node exporter (textfile collector): written whole and renamed, so that no half of it is ever read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from doctor.watch.judge import HOUR
from doctor.watch.session import Result
from doctor.wholefile import whole_file

_HELP = (
    ("ascend_doctor_watch_verdict", "0 too short, 1 no leak, 2 suspect, 3 leak, 4 critical, by process class and quantity"),
    ("ascend_doctor_watch_level", "Present value, bytes or a count"),
    ("ascend_doctor_watch_slope_per_hour", "Growth an hour, bytes or a count"),
    ("ascend_doctor_watch_hours_left", "Hours until what it grows in ends; absent where nothing ends"),
    ("ascend_doctor_watch_stall", "1 while a stall of this kind lasts, 0 after it"),
    ("ascend_doctor_watch_signal", "State of a live rule: 0 ok, 1 note, 2 warn; absent where it is not known"),
    ("ascend_doctor_watch_samples", "Samples taken"),
    ("ascend_doctor_watch_last_sample_seconds", "When the last sample was taken, seconds since the epoch"),
)
_STATES = {"ok": 0, "note": 1, "warn": 2}


def exposition(result: Result) -> str:
    """The text in Prometheus' format."""
    rows: dict[str, list[str]] = {name: [] for name, _ in _HELP}
    for name, labels, value in _samples(result):
        told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        rows[name].append(f"{name}{{{told}}} {value:.10g}" if told else f"{name} {value:.10g}")
    return "".join(f"# HELP {name} {about}\n# TYPE {name} gauge\n" + "".join(f"{row}\n" for row in rows[name]) for name, about in _HELP if rows[name])


def _samples(result: Result) -> Iterator[tuple[str, dict[str, str], float]]:
    for group in result.groups:
        labels = {"class": group.role or "host", "quantity": group.quantity, **({"server": group.server} if group.server else {})}
        yield "ascend_doctor_watch_verdict", labels, group.verdict.rank
        yield "ascend_doctor_watch_level", labels, group.level
        yield "ascend_doctor_watch_slope_per_hour", labels, group.slope
        left = [each.trend.seconds_left for each in group.members if each.trend.seconds_left is not None]
        if left:
            yield "ascend_doctor_watch_hours_left", labels, min(left) / HOUR
    kinds = {stall.kind: False for stall in result.stalls if not stall.harmless}
    kinds |= {stall.kind: True for stall in result.stalls if stall.end is None and not stall.harmless}
    for kind, lasts in kinds.items():
        yield "ascend_doctor_watch_stall", {"kind": kind}, float(lasts)
    for signal in result.signals:
        if signal.state in _STATES:
            yield "ascend_doctor_watch_signal", {"name": signal.name}, _STATES[signal.state]
    yield "ascend_doctor_watch_samples", {}, result.samples
    yield "ascend_doctor_watch_last_sample_seconds", {}, result.end


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def write_whole(path: Path, text: str) -> None:
    """Replaces a file by this text. Raises OSError where that cannot be done."""
    with whole_file(str(path), 0o644) as file:
        file.write(text.encode("utf-8"))


__all__ = ["exposition", "write_whole"]
