"""The recorded series of fixtures/watch as series and as samples."""

from __future__ import annotations

import csv
from pathlib import Path

from doctor.watch.judge import Point, Series, Unit
from doctor.watch.sample import HostSample, ProcessSample, Sample

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "watch"
KB = 1024
ROLES = {"api_server": "api", "engine_core": "engine", "worker": "worker"}


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open() as file:
        return list(csv.DictReader(file))


def series(name: str, column: str, *, of: str = "", unit: Unit = Unit.BYTES, stretch: float = 1.0) -> Series:
    """One column of one class; `stretch` multiplies the times."""
    mine = [row for row in rows(name) if not of or row["class"] == of]
    scale = KB if unit is Unit.BYTES else 1
    points = tuple(Point(float(row["time"]) * stretch, float(row[column]) * scale, float(row["requests"]) if row.get("requests") else None) for row in mine)
    return Series(column, points, unit, points[0].t)


def samples(name: str, *, stretch: float = 1.0, begin: float = 1_796_000_000.0) -> list[Sample]:
    """The recording as the watch itself would have taken it."""
    by_time: dict[float, list[dict[str, str]]] = {}
    for row in rows(name):
        by_time.setdefault(float(row["time"]), []).append(row)
    born: dict[str, float] = {}
    found = []
    for at, group in by_time.items():
        processes = []
        for row in group:
            born.setdefault(row["pid"], at)
            anon, shmem, swap = (int(row[column]) * KB for column in ("RssAnon", "RssShmem", "VmSwap"))
            role = ROLES.get(row["class"], "other")
            started = int((1000 + born[row["pid"]] * stretch) * 100)
            processes.append(ProcessSample(int(row["pid"]), started, role, row["class"], anon, 0, shmem, swap, fds=int(row["fds"]), threads=int(row["threads"])))
        requests = next((float(row["requests"]) for row in group if row["requests"]), None)
        metrics = None if requests is None else {"requests": requests, "running": 1.0}
        host = HostSample(available=200 << 30)
        found.append(Sample(begin + at * stretch, 1000 + at * stretch, "boot", 60.0 * stretch / 60, tuple(processes), host, metrics=metrics))
    return found
