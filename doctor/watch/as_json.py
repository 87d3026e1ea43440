"""A watch as JSON: one object at its end, and the lines of `--stream`. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from doctor.text import clean_line
from doctor.watch.history import Judged
from doctor.watch.judge import Trend, Verdict
from doctor.watch.outlook import Group
from doctor.watch.pressure import Signal
from doctor.watch.sample import Sample, to_line
from doctor.watch.session import Result
from doctor.watch.stall import Stall


def watch_object(result: Result, path: str = "", problems: dict[str, str] | None = None) -> dict[str, Any]:
    """What stands under "watch". Times in seconds since the epoch, memory in bytes, slopes per hour."""
    return {
        "begin": result.begin, "end": result.end, "every": result.every, "samples": result.samples, "missed": result.missed, "file": path,
        "verdict": result.verdict.value, "severity": result.worst.word if result.worst is not None else None, "restart_hours": _number(result.restart_hours),
        "settings": {"warmup": result.settings.warmup, "least_suspect": result.settings.least_suspect, "least_leak": result.settings.least_leak},
        "classes": [_group(group) for group in result.groups],
        "stalls": [_stall(stall) for stall in result.stalls],
        "signals": [_signal(signal) for signal in result.signals],
        "earlier": [_signal(signal) for signal in result.earlier],
        "advice": [{"step": step.key, **step.values} for step in result.advice],
        "pages": {"answered": result.pages.answered, "late": result.pages.late, "failed": result.pages.failed, "oldest": _number(result.pages.oldest)},
        "kinds": {str(pid): dict(kinds.by_kind) for pid, kinds in result.kinds.items()},
        "events": [{"time": at, "event": clean_line(event)} for at, event in result.events],
        "not_looked_at": {name: clean_line(why) for name, why in (problems or {}).items()},
    }  # fmt: skip


def _group(group: Group) -> dict[str, Any]:
    return {
        "class": group.role or "host", "server": group.server or None, "quantity": group.quantity, "verdict": group.verdict.value, "shape": group.shape or None, "level": group.level,
        "slope": _number(group.slope), "processes": [_judged(each) for each in group.members],
    }  # fmt: skip


def _judged(each: Judged) -> dict[str, Any]:
    return {
        "pid": each.key.pid or None, "label": each.label, "card": each.key.card or None, "alive": each.alive, **trend_object(each.trend),
    }  # fmt: skip


def trend_object(trend: Trend) -> dict[str, Any]:
    return {
        "verdict": trend.verdict.value, "why": trend.why, "unit": trend.unit.value, "window": round(trend.window, 1), "level": trend.level,
        **{name: _number(getattr(trend, name)) for name in (
            "growth", "slope", "low", "high", "p", "detectable", "per_request", "idle_slope", "late_share", "seconds_left", "seconds_left_low",
        )},
        "ends": trend.ends or None, "gaps": trend.gaps,
    }  # fmt: skip


def _stall(stall: Stall) -> dict[str, Any]:
    return {"kind": stall.kind, "rule": stall.rule or None, "begin": stall.begin, "end": stall.end, "harmless": stall.harmless, "detail": clean_line(stall.detail), "evidence": stall.evidence or None}


def _signal(signal: Signal) -> dict[str, Any]:
    return {"name": signal.name, "rule": signal.rule, "state": signal.state, "measured": signal.measured, "wanted": signal.wanted, "why": signal.why or None, "what": clean_line(signal.what) or None}


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def stream_line(kind: str, value: Any) -> str | None:
    """One line of `--stream`: {"type": "sample" | "verdict" | "stall", …}; None for what is not told."""
    if kind == "sample" and isinstance(value, Sample):
        return '{"type":"sample",' + to_line(value)[1:]
    if kind == "verdict" and isinstance(value, Judged) and value.trend.verdict is not Verdict.TOO_SHORT:
        record: dict[str, Any] = {"type": "verdict", "class": value.role or "host", "server": value.server or None, "quantity": value.key.quantity, **_judged(value)}
    elif kind == "stall" and isinstance(value, Stall):
        record = {"type": "stall", **_stall(value)}
    else:
        return None
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


__all__ = ["stream_line", "trend_object", "watch_object"]
