"""The earliest error of a node, by the time that its line or the nearest one before tells."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from doctor.fleet.firsterror import first_error, moment
from doctor.logscan.sources import Source


def log(text: str, label: str = "serve.log") -> Source:
    return Source(label, None, len(text.encode()), data=text.encode())


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("2026-01-02 03:04:05,678 ERROR x", utc(2026, 1, 2, 3, 4, 5, 678000)),
        ("2026-01-02T03:04:05.678901234Z boom", utc(2026, 1, 2, 3, 4, 5, 678901)),
        ("2026-01-02T03:04:05+08:00 boom", utc(2026, 1, 1, 19, 4, 5)),
        ("[ERROR] RUNTIME(1,python):2026-01-02-03:04:05.678.901 [x.cc:1]", utc(2026, 1, 2, 3, 4, 5, 678000)),
        ("(EngineCore_DP0 pid=7) ERROR 01-02 03:04:05 [core.py:1] boom", utc(2025, 1, 2, 3, 4, 5)),
        ("2026-13-45 99:99:99 ERROR", None),
        ("no time at all", None),
    ],
)
def test_times_as_logs_write_them(line: str, time: datetime | None) -> None:
    found = moment(line, 2025)
    assert found == time
    assert found is None or found.utcoffset() in (timedelta(0), timedelta(hours=8))


def test_a_traceback_has_the_time_of_the_line_before_it() -> None:
    found = first_error([log("2026-01-02 03:04:05 INFO ok\nTraceback (most recent call last):\n  x\nValueError: boom\n")])
    assert found is not None and (found.line, found.time) == (2, utc(2026, 1, 2, 3, 4, 5))


def test_the_earliest_of_several_logs_counts_and_its_rank_is_told() -> None:
    late, early = log("2026-01-02 03:04:09 ERROR late\n", "a.log"), log("x\n2026-01-02 03:04:05 ERROR [rank3]: early\n", "b.log")
    found = first_error([late, early])
    assert found is not None and (found.source, found.line, found.rank) == ("b.log", 2, "3")


@pytest.mark.parametrize("line", ["2026-01-02 03:04:05 INFO 0 errors", "errors: 0", "ERROR KeyboardInterrupt", "INFO all is well", "no_error=1 terror"])
def test_what_is_no_error(line: str) -> None:
    assert first_error([log(line + "\n")]) is None
