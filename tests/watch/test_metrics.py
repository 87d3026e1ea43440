"""/metrics: a real page, an old one, broken ones; live rules that never call missing fine."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.watch.metrics import Window, missing, read_metrics
from doctor.watch.pressure import Pressure, Signal
from doctor.watch.prometheus import parse
from doctor.watch.sample import Sample
from tests.watch.recorded import FOLDER


def page(name: str) -> dict[str, float]:
    return read_metrics((FOLDER / f"metrics_{name}.txt").read_text())


def test_a_real_page() -> None:
    found = page("load")
    assert (found["running"], found["requests"], found["generated"], found["awake"]) == (1.0, 253.0, 5114.0, 1.0)
    assert missing(found) == ()
    window = Window(page("idle"), found, 380.0)
    assert window.rate("generated") == pytest.approx(5114 / 380)
    assert window.quantile("ttft", 0.95) == 0.04


def test_names_of_older_releases() -> None:
    old = 'vllm:gpu_cache_usage_perc{model_name="m"} 0.97\nvllm:time_per_output_token_seconds_count 12\nvllm:num_preemptions_total 3\n'
    found = read_metrics(old)
    assert (found["kv"], found["tpot_count"], found["preempted"]) == (0.97, 12.0, 3.0)
    assert "vllm:num_requests_running" in missing(found)


def test_engines_are_added_up_and_kept_apart() -> None:
    text = "".join(f'vllm:num_requests_running{{engine="{engine}"}} {value}\n' for engine, value in ((0, 12), (1, 2)))
    assert read_metrics(text) == {"running": 14.0, "running/0": 12.0, "running/1": 2.0}


def test_escaped_labels_and_timestamps() -> None:
    found = parse('a{x="q\\"}{",y="1"} 4 1700000000\n# comment\nbroken{ 5\nb NaN\n')
    assert found.all("a") == (({"x": 'q"}{', "y": "1"}, 4.0),)
    assert found.unread == 1 and found.total("b") is None


@given(st.text(max_size=400))
def test_any_page_is_read(text: str) -> None:
    assert all(isinstance(value, float) for value in read_metrics(text).values())


def test_a_restart_of_the_server_starts_its_counters_anew() -> None:
    assert Window({"requests": 500.0}, {"requests": 20.0}, 30).change("requests") == 20.0


def signals(*pages: dict[str, float] | None) -> dict[str, Signal]:
    pressure = Pressure()
    for index, metrics in enumerate(pages):
        pressure.add(Sample(1000 + 30.0 * index, 1000 + 30.0 * index, metrics=metrics, metrics_problem="" if metrics else "refused"))
    return {signal.name: signal for signal in pressure.signals()}


CALM = {
    "running": 4.0, "waiting": 0.0, "kv": 0.3, "requests": 0.0, "finished_error": 0.0, "finished_abort": 0.0, "generated": 0.0, "prompted": 0.0, "preempted": 0.0,
    "cache_queries": 0.0, "cache_hits": 0.0, "ttft_count": 0.0, "ttft<0.5": 0.0, "ttft<5": 0.0, "tpot_count": 0.0, "tpot<0.1": 0.0, "tpot<1": 0.0, "queue_count": 0.0, "queue<0.3": 0.0, "queue<5": 0.0,
}  # fmt: skip
BUSY = {**CALM, "requests": 100.0, "generated": 30000.0, "prompted": 50000.0, "cache_queries": 50000.0, "cache_hits": 40000.0} | {
    key: 100.0 for key in CALM if key[:4] in ("ttft", "tpot", "queu")
}


def test_a_healthy_server_is_ok_in_every_rule_that_could_look() -> None:
    states = {name: signal.state for name, signal in signals(CALM, BUSY).items()}
    assert states.pop("balance") == "unknown"
    assert set(states.values()) == {"ok"}


@pytest.mark.parametrize(
    ("name", "change", "state"),
    [
        ("queue", {"waiting": 40.0}, "warn"),
        ("queue", {"waiting": 1.0, "queue<0.3": 10.0}, "warn"),
        ("kv", {"kv": 0.97}, "note"),
        ("preemption", {"preempted": 3.0}, "warn"),
        ("ttft", {"ttft<0.5": 10.0}, "warn"),
        ("tpot", {"tpot<0.1": 10.0}, "warn"),
        ("throughput", {"generated": 30.0, "prompted": 30.0}, "note"),
        ("errors", {"finished_error": 20.0}, "warn"),
        ("errors", {"finished_abort": 20.0}, "warn"),
        ("prefix", {"cache_hits": 100.0}, "note"),
        ("balance", {"running/0": 12.0, "running/1": 1.0}, "warn"),
    ],
)
def test_each_rule_warns(name: str, change: dict[str, float], state: str) -> None:
    gauges = {key: value for key, value in change.items() if key in ("waiting", "kv") or key.startswith("running/")}
    found = signals({**CALM, **gauges}, {**BUSY, **change})[name]
    assert found.state == state and found.measured and found.rule.startswith("perf-")


def test_a_missing_metric_is_named_and_never_fine() -> None:
    without = {key: value for key, value in BUSY.items() if key != "waiting"}
    found = signals({key: value for key, value in CALM.items() if key != "waiting"}, without)["queue"]
    assert (found.state, found.why, found.what) == ("unknown", "missing", "vllm:num_requests_waiting")


def test_without_an_answer_nothing_is_known() -> None:
    found = signals(None, None)
    assert {signal.state for signal in found.values()} == {"unknown"}
    assert found["kv"].what == "refused"


def test_too_little_traffic_is_no_verdict() -> None:
    found = signals(CALM, {**CALM, "requests": 3.0, "ttft_count": 3.0})
    assert found["ttft"].why == found["errors"].why == "traffic"


def test_beyond_the_last_bucket() -> None:
    window = Window(CALM, {**BUSY, "ttft<0.5": 0.0, "ttft<5": 0.0}, 30)
    assert window.quantile("ttft", 0.95) == math.inf


def test_what_warned_earlier_is_remembered() -> None:
    pressure = Pressure()
    for index, metrics in enumerate((CALM, {**BUSY, "preempted": 2.0})):
        pressure.add(Sample(30.0 * index, 30.0 * index, metrics=metrics))
    for index in range(30):
        pressure.add(replace(Sample(100 + 30.0 * index, 100 + 30.0 * index), metrics={**BUSY, "preempted": 2.0}))
    assert {signal.name: signal.state for signal in pressure.signals()}["preemption"] == "ok"
    assert "preemption" in {signal.name for signal in pressure.seen}
