"""Live rules on `/metrics`: queue, KV cache, preemption, latencies, throughput, errors, balance, prefix cache. Pure.

Contract: three states. "ok" is said only of what was measured; a metric that is missing, or too little traffic, gives "unknown" with the reason.
Thresholds are those of vllm-doctor 0.6 unless a line says otherwise.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from doctor.watch.metrics import COUNTERS, GAUGES, HISTOGRAMS, Window
from doctor.watch.sample import Sample

SPAN = 300.0
"""Seconds that a judgement looks back."""
LEAST_SPAN = 20.0
STALE = 60.0
"""Seconds after which a page is too old to say that all is well now."""

WAITING = 5.0
QUEUE_P95 = 1.0
KV_NEAR, KV_WITH_PREEMPTION = 0.90, 0.80
TTFT_P95, TPOT_P95 = 2.0, 0.2
PROMPT_TPS, GENERATION_TPS, LOADED = 10.0, 50.0, 2.0
ERRORS, ABORTS = 0.05, 0.10
HIT_RATE, LEAST_QUERIES = 0.50, 5000.0
IMBALANCE, BALANCED_FROM = 2.0, 5.0


@dataclass(frozen=True)
class Signal:
    """One live rule's state. `rule`: the cause in the rule book; `why`: the key of a reason where the state is unknown, with `what` named."""

    name: str
    rule: str
    state: str
    """"ok", "warn", "note" or "unknown"."""
    measured: str = ""
    wanted: str = ""
    why: str = ""
    what: str = ""


class Pressure:
    """The samples of the last minutes, judged on demand."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=400)
        self._seen: dict[str, Signal] = {}

    def add(self, sample: Sample) -> None:
        self._samples.append(sample)
        while len(self._samples) > 2 and sample.time - self._samples[1].time > SPAN:
            self._samples.popleft()
        for signal in self.signals():
            if signal.state in ("warn", "note"):
                self._seen[signal.name] = signal

    @property
    def seen(self) -> tuple[Signal, ...]:
        """Every signal that warned at some time, as it was last."""
        return tuple(self._seen.values())

    def signals(self) -> tuple[Signal, ...]:
        """The state of every rule over the last minutes."""
        answered = [sample for sample in self._samples if sample.metrics is not None]
        newest = self._samples[-1] if self._samples else None
        silent = newest is None or not answered or newest.time - answered[-1].page_time > max(STALE, 2.5 * newest.every)
        if silent or len(answered) < 2 or answered[-1].page_time - answered[0].page_time < LEAST_SPAN:
            why = "no_metrics" if silent else "too_short"
            what = newest.metrics_problem if newest is not None and silent else ""
            return tuple(Signal(name, rule, "unknown", why=why, what=what) for name, rule, _ in _RULES)
        first, last = answered[0], answered[-1]
        window = Window(first.metrics or {}, last.metrics or {}, last.page_time - first.page_time)
        return tuple(judge(answered, window, name, rule) for name, rule, judge in _RULES)


def _missing(name: str, rule: str, *ours: str) -> Signal:
    names = [({**GAUGES, **COUNTERS, **HISTOGRAMS}.get(each) or (f"vllm:{each}",))[0] for each in ours]
    return Signal(name, rule, "unknown", why="missing", what=", ".join(names))


def _means(samples: Sequence[Sample], key: str) -> float | None:
    values = [sample.metrics[key] for sample in samples if sample.metrics is not None and key in sample.metrics]
    return sum(values) / len(values) if values else None


def _queue(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    waiting = [sample.metrics["waiting"] for sample in samples if sample.metrics is not None and "waiting" in sample.metrics]
    if not waiting:
        return _missing(name, rule, "waiting")
    p95 = window.quantile("queue", 0.95)
    long = sum(value > WAITING for value in waiting) >= 0.8 * len(waiting)
    told = f"{sum(waiting) / len(waiting):.0f} waiting" + (f", p95 {_seconds(p95)} in the queue" if p95 is not None else "")
    return Signal(name, rule, "warn" if long or (p95 is not None and p95 >= QUEUE_P95 and sum(waiting) > 0) else "ok", told, f"at most {WAITING:.0f} waiting, p95 below {QUEUE_P95:.0f} s")


def _kv(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    mean = _means(samples, "kv")
    if mean is None:
        return _missing(name, rule, "kv_cache_usage_perc")
    preempted = window.change("preempted") or 0.0
    limit = KV_WITH_PREEMPTION if preempted else KV_NEAR
    return Signal(name, rule, "note" if mean >= limit else "ok", f"{mean:.0%} in use", f"below {limit:.0%}")


def _preemption(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    count = window.change("preempted")
    if count is None:
        return _missing(name, rule, "preempted")
    return Signal(name, rule, "warn" if count > 0 else "ok", f"{count:.0f} preempted in {window.seconds:.0f} s", "none")


def _latency(ours: str, limit: float) -> _Judge:
    def judge(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
        if f"{ours}_count" not in window.last:
            return _missing(name, rule, ours)
        p95 = window.quantile(ours, 0.95)
        if p95 is None:
            return Signal(name, rule, "unknown", why="traffic", what=f"{window.change(f'{ours}_count') or 0:.0f}")
        return Signal(name, rule, "warn" if p95 >= limit else "ok", f"p95 {_seconds(p95)}", f"below {limit} s")

    return judge


def _seconds(value: float | None) -> str:
    return "" if value is None else "beyond its last bucket" if math.isinf(value) else f"at most {value:g} s"


def _throughput(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    running, made, read = _means(samples, "running"), window.rate("generated"), window.rate("prompted")
    if running is None or made is None or read is None:
        return _missing(name, rule, *(ours for ours, value in (("running", running), ("generated", made), ("prompted", read)) if value is None))
    if running < LOADED:
        return Signal(name, rule, "unknown", why="load", what=f"{running:.1f}")
    low = made < GENERATION_TPS and read < PROMPT_TPS
    return Signal(name, rule, "note" if low else "ok", f"{made:.0f} generated, {read:.0f} prompt tokens/s at {running:.0f} running", f"{GENERATION_TPS:.0f} generated tokens/s")


def _errors(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    done, failed, aborted = window.change("requests"), window.change("finished_error"), window.change("finished_abort")
    answers, broken = window.change("http"), window.change("http_5xx")
    if done is None and answers is None:
        return _missing(name, rule, "requests")
    if (done or 0) < 10 and (answers or 0) < 10:
        return Signal(name, rule, "unknown", why="traffic", what=f"{max(done or 0, answers or 0):.0f}")
    shares = [(part / whole, word) for part, whole, word in ((failed, done, "failed"), (broken, answers, "HTTP 5xx")) if part is not None and whole]
    lost = aborted / done if aborted is not None and done else 0.0
    worst, word = max(shares, default=(0.0, "failed"))
    bad = worst >= ERRORS or lost >= ABORTS
    return Signal(name, rule, "warn" if bad else "ok", f"{worst:.0%} {word}, {lost:.0%} aborted", f"below {ERRORS:.0%} and {ABORTS:.0%}")


def _balance(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    engines = [key for key in window.last if key.startswith("running/")]
    if len(engines) < 2:
        return Signal(name, rule, "unknown", why="one_engine")
    means = [_means(samples, key) or 0.0 for key in engines]
    if sum(means) < BALANCED_FROM:
        return Signal(name, rule, "unknown", why="load", what=f"{sum(means):.1f}")
    ratio = max(means) / max(min(means), 0.5)
    return Signal(name, rule, "warn" if ratio >= IMBALANCE else "ok", f"{max(means):.1f} running on one engine, {min(means):.1f} on another", f"a ratio below {IMBALANCE:.0f}")


def _prefix(samples: Sequence[Sample], window: Window, name: str, rule: str) -> Signal:
    queries, hits = window.change("cache_queries"), window.change("cache_hits")
    if queries is None or hits is None:
        return _missing(name, rule, "cache_queries", "cache_hits")
    if queries < LEAST_QUERIES:
        return Signal(name, rule, "unknown", why="traffic", what=f"{queries:.0f}")
    rate = hits / queries
    return Signal(name, rule, "note" if rate < HIT_RATE else "ok", f"{rate:.0%} hits", f"{HIT_RATE:.0%}, where prompts share a beginning")


_Judge = Callable[[Sequence[Sample], Window, str, str], Signal]

_RULES: tuple[tuple[str, str, _Judge], ...] = (
    ("queue", "perf-queue-pressure", _queue),
    ("kv", "perf-kv-near-full", _kv),
    ("preemption", "perf-preemption", _preemption),
    ("ttft", "perf-ttft-high", _latency("ttft", TTFT_P95)),
    ("tpot", "perf-tpot-high", _latency("tpot", TPOT_P95)),
    ("throughput", "perf-low-throughput", _throughput),
    ("errors", "perf-error-rate", _errors),
    ("balance", "perf-dp-imbalance", _balance),
    ("prefix", "perf-prefix-hit-low", _prefix),
)

__all__ = ["Pressure", "Signal"]
