"""Whether communication dominates a profile: not overlapped by the step table, or by the sum of its operators."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.profile import OpSummary, StepTrace
from doctor.finding import Confidence, Hit

from ._profile import seen, seen_steps, told

LIMIT = 0.4
"""Part of a step; a proposal, no vendor gives one."""


def judge(summary: OpSummary | None, steps: StepTrace | None) -> Iterator[Hit]:
    if steps is not None:
        share = steps.share(steps.exposed)
        if share > LIMIT:
            found = f"communication that nothing overlaps takes {share:.0%} of the steps"
            yield Hit(found=found, wanted=f"at most {LIMIT:.0%}", evidence=(seen_steps(steps),), confidence=Confidence.LIKELY)
        return
    if summary is not None and (share := summary.share(summary.communication)) > LIMIT:
        found = f"communication takes {share:.0%} of the device time: {told(summary, [total for total in summary.by_type if total.communication])}"
        yield Hit(found=found, wanted=f"at most {LIMIT:.0%}, or overlapped", evidence=(seen(summary),), confidence=Confidence.POSSIBLE)
