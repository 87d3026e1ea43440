"""Whether operators on the AI CPU take a noticeable part of a profile; the AI CPU's part in communication does not count."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.profile import OpSummary
from doctor.finding import Confidence, Hit

from ._profile import seen, told

LIMIT = 0.05
"""Part of the device time; a proposal."""


def judge(summary: OpSummary) -> Iterator[Hit]:
    slow = [total for total in summary.totals if total.core in ("AI_CPU", "AICPU") and not total.communication]
    share = summary.share(sum(total.time for total in slow))
    if share > LIMIT:
        found = f"{share:.0%} of the device time on the AI CPU: {told(summary, slow)}"
        yield Hit(found=found, wanted=f"at most {LIMIT:.0%}", evidence=(seen(summary),), confidence=Confidence.LIKELY)
