"""vLLM's `/metrics` as a few numbers, under names that do not change between its releases. Pure; what is missing is named, never read as fine.

Counters stay counters: what happened within a window is a difference of two samples (`Window`), and a restart (a counter that falls) starts anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from doctor.watch.prometheus import Page, parse

GAUGES: Mapping[str, tuple[str, ...]] = {
    "running": ("vllm:num_requests_running",),
    "waiting": ("vllm:num_requests_waiting",),
    "swapped": ("vllm:num_requests_swapped",),
}
"""Our name -> vLLM's names, newest first. Summed over engines."""

COUNTERS: Mapping[str, tuple[str, ...]] = {
    "requests": ("vllm:request_success",),
    "generated": ("vllm:generation_tokens",),
    "prompted": ("vllm:prompt_tokens",),
    "preempted": ("vllm:num_preemptions",),
    "cache_queries": ("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"),
    "cache_hits": ("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"),
}

HISTOGRAMS: Mapping[str, tuple[str, ...]] = {
    "ttft": ("vllm:time_to_first_token_seconds",),
    "tpot": ("vllm:request_time_per_output_token_seconds", "vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    "queue": ("vllm:request_queue_time_seconds",),
}

_KV = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
REASONS = ("abort", "error")
MOST_ENGINES = 64
"""Engines whose own running requests are kept, for the balance between them."""


def read_metrics(text: str) -> dict[str, float]:
    """The numbers of one page. A name that is not in the result was not on the page."""
    page = parse(text)
    found: dict[str, float] = {}
    for ours, names in (*GAUGES.items(), *COUNTERS.items()):
        value = _first(page, names)
        if value is not None:
            found[ours] = value
    for reason in REASONS:
        value = page.total("vllm:request_success", finished_reason=reason)
        if value is not None:
            found[f"finished_{reason}"] = value
    kv = [value for name in _KV for _, value in page.all(name) if math.isfinite(value)]
    if kv:
        found["kv"] = max(kv)
    found |= _http(page) | _engines(page) | _asleep(page)
    for ours, names in HISTOGRAMS.items():
        found |= _histogram(page, ours, names)
    return found


def missing(metrics: Mapping[str, float]) -> tuple[str, ...]:
    """vLLM's names of what the page should have held."""
    absent = [names[0] for table in (GAUGES, COUNTERS) for ours, names in table.items() if ours not in metrics and ours != "swapped"]
    absent += [_KV[0]] if "kv" not in metrics else []
    absent += [names[0] for ours, names in HISTOGRAMS.items() if f"{ours}_count" not in metrics]
    return tuple(absent)


def _first(page: Page, names: Iterable[str]) -> float | None:
    return next((value for name in names if (value := page.total(name)) is not None), None)


def _http(page: Page) -> dict[str, float]:
    """Answered requests for inference, and those that failed on the server's side."""
    rows = [(labels, value) for labels, value in page.all("http_requests") if "/v1/" in labels.get("handler", "") and math.isfinite(value)]
    if not rows:
        return {}
    return {"http": sum(value for _, value in rows), "http_5xx": sum(value for labels, value in rows if labels.get("status", "").startswith("5"))}


def _engines(page: Page) -> dict[str, float]:
    rows = [(labels.get("engine", ""), value) for labels, value in page.all("vllm:num_requests_running") if math.isfinite(value)]
    return {f"running/{engine[:8]}": value for engine, value in rows[:MOST_ENGINES]} if len(rows) > 1 else {}


def _asleep(page: Page) -> dict[str, float]:
    awake = page.total("vllm:engine_sleep_state", sleep_state="awake")
    return {} if awake is None else {"awake": awake}


def _histogram(page: Page, ours: str, names: Iterable[str]) -> dict[str, float]:
    for name in names:
        count = page.total(name + "_count")
        if count is None:
            continue
        found = {f"{ours}_count": count}
        for labels, value in page.all(name + "_bucket"):
            bound = labels.get("le", "")
            if bound not in ("", "+Inf") and math.isfinite(value):
                key = f"{ours}<{bound[:12]}"
                found[key] = found.get(key, 0.0) + value
        return found
    return {}


@dataclass(frozen=True)
class Window:
    """What happened between two samples of one server."""

    first: Mapping[str, float]
    last: Mapping[str, float]
    seconds: float

    def change(self, name: str) -> float | None:
        """How much a counter rose; what it holds, where it fell (a restart); None where a page lacks it."""
        if name not in self.last or name not in self.first:
            return None
        rise = self.last[name] - self.first[name]
        return rise if rise >= 0 else self.last[name]

    def rate(self, name: str) -> float | None:
        change = self.change(name)
        return None if change is None or self.seconds <= 0 else change / self.seconds

    def quantile(self, name: str, share: float) -> float | None:
        """Upper bound of a histogram's quantile within the window, in its unit; None below ten observations; infinity beyond its last bucket."""
        count = self.change(f"{name}_count")
        if count is None or count < 10:
            return None
        buckets = sorted(((_bound(key), key) for key in self.last if key.startswith(f"{name}<")), key=lambda pair: pair[0])
        for bound, key in buckets:
            if (self.change(key) or 0.0) >= share * count:
                return bound
        return math.inf if buckets else None


def _bound(key: str) -> float:
    try:
        return float(key.partition("<")[2])
    except ValueError:
        return math.inf


__all__ = ["COUNTERS", "GAUGES", "HISTOGRAMS", "Window", "missing", "read_metrics"]
