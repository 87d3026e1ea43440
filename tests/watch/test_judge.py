"""What the judge says of series whose truth is known: made ones, recorded ones, broken ones."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.watch.judge import HOUR, MIB, Point, Series, Settings, Unit, Verdict, judge, ordered
from tests.watch.recorded import series
from tools.watch_series import LEAKS, QUIET_KINDS, leaking, quiet
from tools.watch_table import score

GIB = 1024 * MIB
MINUTE = 60.0
"""In the recordings of the small server, a second stands for a minute."""


def line(hours: float, slope: float, *, level: float = 4 * GIB, noise: float = 0.0, every: float = 30.0) -> Series:
    rng = random.Random(7)
    count = int(hours * HOUR / every)
    return Series("made", tuple(Point(i * every, level + slope * i * every / HOUR + rng.gauss(0, noise)) for i in range(count)), started=0.0)


@pytest.mark.parametrize("mode", ["healthy", "plateau", "sawtooth", "step", "shm_unmapped", "shm_mapped", "fds", "threads"])
def test_recorded_memory_without_a_leak(mode: str) -> None:
    assert judge(series(f"leak_{mode}.csv", "RssAnon", stretch=MINUTE)).verdict is Verdict.NO_LEAK


@pytest.mark.parametrize("mode", ["linear", "idleleak", "linear_noisy", "leak_in_sawtooth"])
def test_recorded_memory_with_a_leak_of_a_mebibyte_a_minute(mode: str) -> None:
    trend = judge(series(f"leak_{mode}.csv", "RssAnon", stretch=MINUTE))
    assert trend.verdict is Verdict.LEAK
    assert trend.slope == pytest.approx(60 * MIB, rel=0.3)


def test_recorded_leaks_that_are_not_anonymous_memory() -> None:
    assert judge(series("leak_shm_mapped.csv", "RssShmem", stretch=MINUTE)).verdict is Verdict.LEAK
    files = judge(series("leak_fds.csv", "fds", unit=Unit.FILES, stretch=MINUTE))
    assert (files.verdict, round(files.slope)) == (Verdict.LEAK, 120)
    threads = judge(series("leak_threads.csv", "threads", unit=Unit.THREADS, stretch=MINUTE))
    assert (threads.verdict, round(threads.slope)) == (Verdict.LEAK, 30)
    shm = series("devshm.csv", "shm_used_kB", stretch=MINUTE)
    assert judge(shm).slope == pytest.approx(120 * MIB, rel=0.05)


@pytest.mark.parametrize("role", ["api_server", "engine_core", "worker"])
def test_a_healthy_server_does_not_leak(role: str) -> None:
    assert judge(series("vllm_healthy.csv", "RssAnon", of=role), Settings.for_span(730)).verdict is Verdict.NO_LEAK


def test_a_real_leak_is_found_in_its_process_only() -> None:
    settings = Settings.for_span(340)
    trends = {role: judge(series("vllm_real_leak_apiserver.csv", "RssAnon", of=role), settings) for role in ("api_server", "engine_core", "worker")}
    assert {role for role, trend in trends.items() if trend.verdict.bad} == {"api_server"}
    per_request = trends["api_server"].per_request
    assert per_request is not None and per_request == pytest.approx(512 * 1024, rel=0.1)


def test_a_sample_of_the_table_in_the_docs() -> None:
    calm = [score(kind, (quiet(seed) for seed in range(index, 90, len(QUIET_KINDS))), Settings()) for index, kind in enumerate(QUIET_KINDS)]
    assert sum(each.leak for each in calm) <= 1
    growing = [score(name, (leaking(seed) for seed in range(index, 96, len(LEAKS))), Settings()) for index, name in enumerate(LEAKS)]
    assert sum(each.found for each in growing) >= 0.95 * sum(each.above for each in growing) > 0


def test_no_leak_names_the_smallest_leak_that_it_could_have_shown() -> None:
    clear = judge(line(6, 0, noise=2 * MIB))
    assert clear.verdict is Verdict.NO_LEAK and clear.detectable is not None
    assert judge(line(6, 1.2 * clear.detectable, noise=2 * MIB)).verdict is Verdict.LEAK


def test_two_hours_give_a_suspicion_and_three_a_leak() -> None:
    verdicts = [judge(line(hours, 200 * MIB)).verdict for hours in (1.5, 2.4, 3.4)]
    assert verdicts == [Verdict.TOO_SHORT, Verdict.SUSPECT, Verdict.LEAK]


def test_growth_in_the_first_quarter_of_an_hour_does_not_count() -> None:
    warm = tuple(Point(t, min(t, 900) * MIB) for t in range(0, 4 * 3600, 30))
    assert judge(Series("warm", warm, started=0.0)).verdict is Verdict.NO_LEAK


def test_growth_that_follows_the_load_is_only_suspect() -> None:
    points = tuple(Point(t, 4 * GIB + t * 50_000, None, t / 300) for t in range(0, 6 * 3600, 30))
    trend = judge(Series("ramp", points, started=0.0))
    assert (trend.verdict, trend.why) == (Verdict.SUSPECT, "load_rises")


def test_a_leak_that_ends_within_twelve_hours_is_critical() -> None:
    made = line(6, 512 * MIB)
    trend = judge(Series("made", made.points, started=0.0, limit=2 * GIB, ends="host"))
    assert trend.verdict is Verdict.CRITICAL
    assert trend.seconds_left is not None and trend.seconds_left == pytest.approx(4 * HOUR, rel=0.02)


def test_a_leak_that_sleeps_at_night_is_told_by_its_requests() -> None:
    points, served = [], 0.0
    for step in range(2880):  # 24 h: serving, then ten hours of night at the end
        running = 8.0 if step < 1680 else 0.0
        served += running * 20
        points.append(Point(step * 30.0, 4 * GIB + served * 4096, served, running))
    trend = judge(Series("night", tuple(points), started=0.0))
    assert trend.verdict is Verdict.LEAK
    assert trend.per_request == pytest.approx(4096, rel=0.05)
    assert trend.idle_slope is not None and abs(trend.idle_slope) < MIB


def test_a_clock_that_runs_back_is_carried_on() -> None:
    points = [Point(t, 0.0) for t in (0, 30, 60, -3000, -2970)]
    assert [point.t for point in ordered(points)] == [0, 30, 60, 90, 120]


@given(st.lists(st.tuples(st.floats(allow_nan=True, allow_infinity=False, width=32), st.floats(allow_nan=True, allow_infinity=False, width=32)), max_size=60))
def test_any_numbers_are_judged(pairs: list[tuple[float, float]]) -> None:
    trend = judge(Series("any", tuple(Point(t, value) for t, value in pairs)), Settings().scaled(0))
    assert trend.verdict in Verdict and not math.isnan(trend.slope)
