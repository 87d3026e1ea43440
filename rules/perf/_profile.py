"""What the rules about profiles share: how a part of the time is told, and where it was read."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.facts.profile import OpSummary, OpTotal, StepTrace
from doctor.finding import Evidence

NAMED = 5
"""Operators that are named one by one."""


def told(summary: OpSummary, totals: Iterable[OpTotal]) -> str:
    """`MatMulV2 41% (1,024 calls, 38.2 us each)` for each of the first few."""
    return "; ".join(
        f"{total.type} {summary.share(total.time):.0%} ({total.count:,} calls, {total.mean:,.1f} us each)" for total in list(totals)[:NAMED]
    )


def seen(summary: OpSummary) -> Evidence:
    text = f"{summary.table}: {summary.count:,} calls of {len(summary.by_type)} types of operators, {summary.time / 1000:,.1f} ms"
    unread = f"; {summary.unread:,} rows without a time" if summary.unread else ""
    return Evidence(summary.source, text + unread, summary.line)


def seen_steps(steps: StepTrace) -> Evidence:
    shares = (("computing", steps.computing), ("communication not overlapped", steps.exposed), ("free", steps.free))
    return Evidence(steps.source, f"{steps.steps} steps: " + ", ".join(f"{name} {steps.share(time):.0%}" for name, time in shares), steps.line)
