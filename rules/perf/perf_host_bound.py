"""Whether a profile shows the NPU waiting for its host: free time of the steps, or the waits between tasks."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.profile import OpSummary, StepTrace
from doctor.finding import Confidence, Hit

from ._profile import seen, seen_steps

LIMIT = 0.4
"""Part of a step; a proposal. 57% with three speculative tokens against 19% without was reported (vllm-ascend #11967)."""


def judge(summary: OpSummary | None, steps: StepTrace | None) -> Iterator[Hit]:
    if steps is not None:
        share = steps.share(steps.free)
        if share > LIMIT:
            found = f"the NPU is free for {share:.0%} of the steps"
            yield Hit(found=found, wanted=f"at most {LIMIT:.0%}", evidence=(seen_steps(steps),), confidence=Confidence.LIKELY)
        return
    if summary is None or not summary.waits or not summary.time:
        return
    share = summary.wait / (summary.wait + summary.time)
    if share > LIMIT:
        found = f"tasks wait {summary.wait / 1000:,.1f} ms and run {summary.time / 1000:,.1f} ms: {share:.0%} of the time is waiting"
        yield Hit(found=found, wanted=f"at most {LIMIT:.0%}", evidence=(seen(summary),), confidence=Confidence.POSSIBLE)
