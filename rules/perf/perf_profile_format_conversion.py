"""Whether changes of format, order and type take a large part of a profile."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.profile import OpSummary
from doctor.finding import Confidence, Hit

from ._profile import seen, told

LIMIT = 0.1
"""Part of the device time; a proposal."""
_CONVERSIONS = frozenset({"TransData", "Transpose", "TransposeD", "Cast"})


def judge(summary: OpSummary) -> Iterator[Hit]:
    conversions = [total for total in summary.by_type if total.type in _CONVERSIONS]
    share = summary.share(sum(total.time for total in conversions))
    if share > LIMIT:
        found = f"{share:.0%} of the device time: {told(summary, conversions)}"
        yield Hit(found=found, wanted=f"at most {LIMIT:.0%}", evidence=(seen(summary),), confidence=Confidence.LIKELY)
