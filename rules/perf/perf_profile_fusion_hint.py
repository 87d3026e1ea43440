"""Whether small operators that a fusion would take in have a large part of the device time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.profile import OpSummary
from doctor.finding import Confidence, Hit
from doctor.regex import regex

from ._profile import seen, told

LIMIT = 0.15
"""Part of the device time; a proposal."""
SMALL = 20.0
"""Microseconds on average; shorter than the launch of most operators. A proposal."""
_FUSIBLE = regex(r"(?:LayerNorm|RmsNorm|Add|Mul|Cast|Softmax)(?:V\d{1,2}|s|D)?$", re.IGNORECASE)


def judge(summary: OpSummary) -> Iterator[Hit]:
    small = [total for total in summary.by_type if _FUSIBLE.match(total.type) and total.mean < SMALL]
    share = summary.share(sum(total.time for total in small))
    if share > LIMIT:
        found = f"{share:.0%} of the device time goes to small operators: {told(summary, small)}"
        wanted = f"at most {LIMIT:.0%}, by operators that fuse them"
        yield Hit(found=found, wanted=wanted, evidence=(seen(summary),), confidence=Confidence.LIKELY)
