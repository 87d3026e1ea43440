"""Names the operators that dominate a profile."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.profile import OpSummary
from doctor.finding import Confidence, Hit

from ._profile import seen, told

LIMIT = 0.1
"""Part of the device time from which an operator is worth a look."""


def judge(summary: OpSummary) -> Iterator[Hit]:
    if not summary.by_type or summary.share(summary.by_type[0].time) < LIMIT:
        return
    cores = ", ".join(f"{core or 'not told'} {summary.share(time):.0%}" for core, time in list(summary.by_core.items())[:4])
    yield Hit(found=f"{told(summary, summary.by_type)}; by core: {cores}", evidence=(seen(summary),), confidence=Confidence.LIKELY)
