"""Decides perf-dp-imbalance: engines of one server whose running requests differ by more than a factor of two."""

from collections.abc import Iterator

from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches, evidence_of

LEAST_RUNNING = 5
"""Requests in all, below which a difference says nothing."""

RATIO = 2.0
"""Between the mean loads of the fullest and the emptiest engine."""

LINES = 3
"""Log lines of each engine that are needed."""


def judge(matches: Matches) -> Iterator[Hit]:
    lines = matches["running"]
    loads: dict[str, list[int]] = {}
    for match in lines:
        loads.setdefault(match.groups["engine"], []).append(int(match.groups["running"]))
    means = {engine: sum(values) / len(values) for engine, values in loads.items() if len(values) >= LINES}
    if len(means) < 2 or sum(means.values()) < LEAST_RUNNING or max(means.values()) <= RATIO * min(means.values()):
        return
    told = ", ".join(f"engine {engine}: {mean:.1f}" for engine, mean in sorted(means.items()))
    yield Hit(
        found=f"mean of running requests: {told}",
        wanted="about the same for all",
        evidence=(evidence_of(lines),),
        confidence=Confidence.LIKELY,
        basis=Basis.LOG,
        position=lines[0].ordinal + 1,
    )
