"""What to do next about what grows: the cheapest test that decides first, and a schedule of restarts where nothing else helps yet. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from doctor.watch.judge import HOUR, Verdict
from doctor.watch.outlook import Group
from doctor.watch.smaps import Kinds

NATIVE = 0.6
"""Share of no-reserve mappings from which Python tools are no use."""


@dataclass(frozen=True)
class Advice:
    """One step: the key of its words, and what fills them."""

    key: str
    values: Mapping[str, str] = field(default_factory=dict)


def advice(groups: Iterable[Group], kinds: Mapping[int, Kinds], least: str) -> tuple[Advice, ...]:
    """The steps for everything that grows, each once, cheapest first; the schedule last."""
    found: list[Advice] = []
    bad = [group for group in groups if group.verdict.bad]
    for group in sorted(bad, key=lambda each: -each.verdict.rank):
        found += [step for step in _steps(group, kinds, least) if step.key not in {known.key for known in found}]
    left = min((each.trend.seconds_left for group in bad for each in group.members if each.trend.seconds_left is not None and each.trend.verdict.rank >= Verdict.LEAK.rank), default=None)
    if left is not None:
        hours = left / HOUR / 2
        found.append(Advice("next_restart", {"hours": f"{hours:.0f}" if hours >= 10 else f"{hours:.1f}"}))
    return tuple(found)


def restart_hours(groups: Iterable[Group]) -> float | None:
    """Half of the time that is left before the first thing ends; None where nothing leaks or no end is in sight."""
    ends = [each.trend.seconds_left for group in groups for each in group.members if each.trend.seconds_left is not None and each.trend.verdict.rank >= Verdict.LEAK.rank]
    return min(ends) / HOUR / 2 if ends else None


def _steps(group: Group, kinds: Mapping[int, Kinds], least: str) -> Iterator[Advice]:
    worst = group.worst
    pid = {"pid": str(worst.key.pid)}
    if worst.trend.why == "load_rises":
        yield Advice("next_equal_load")
        return
    if worst.trend.why == "within_cache":
        yield Advice("next_cache")
        return
    if group.verdict is Verdict.SUSPECT:
        yield Advice("next_longer", {"least": least})
    if group.quantity == "private":
        known = kinds.get(worst.key.pid)
        if known is not None and known.share("noreserve") >= NATIVE:
            yield Advice("next_native")
            yield Advice("next_jemalloc")
            return
        if group.role in ("api", "engine", "other"):
            yield Advice("next_gc")
        yield Advice("next_trim", pid)
        yield Advice("next_jemalloc")
        yield Advice("next_heap", pid)
    elif group.quantity in ("shm", "shmem"):
        yield Advice("next_shm")
    else:
        yield Advice(f"next_{group.quantity}", pid)


__all__ = ["Advice", "advice", "restart_hours"]
