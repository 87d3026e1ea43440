"""What the steps on the cards measured, as sentences that the rule book hears: an operator that fails, a card that is slower than the others. Pure.

Contract: says nothing of imports, of the CPU, and of steps that have rules of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.smoke.child import Ended, How

STEPS = ("device", "operators")
SLOW = 1.20
"""Times the mean of all cards: the limit of the vendor's own pre-checker."""
_ON_CARD = re.compile(r"(?P<what>[\w ,-]{1,60}) on (?P<card>npu:\d{1,4})")


def told(step: str, ended: Ended) -> Iterator[str]:
    """What fails on a card, with the cards on which the same passes."""
    if step not in STEPS:
        return
    for check in ended.checks:
        if not check.passed and check.subject.startswith("npu:"):
            others = [other.subject for other in ended.checks if other.passed and other.name == check.name and other.subject.startswith("npu:")]
            beside = f"; it passes on {', '.join(others[:16])}" if others else ""
            yield f"Smoke test: {check.name} fails on {check.subject}: {check.detail or 'another result than expected'}{beside}"
    stage = _ON_CARD.fullmatch(ended.stage)
    if stage is not None and ended.how in (How.FAILED, How.CRASHED, How.HUNG):
        how = f"the process ended by {ended.signal}" if ended.signal else "no end within its time" if ended.how is How.HUNG else "the process ended with an error"
        yield f"Smoke test: {stage['what']} fails on {stage['card']}: {how}"


def slow_cards(step: str, ended: Ended) -> Iterator[str]:
    """Cards that take clearly longer than the mean of all for the same products of matrices."""
    if step != "operators":
        return
    rates = {each.subject: each.value for each in ended.figures if each.unit == "TFLOP/s" and each.value > 0 and each.subject.startswith("npu:")}
    if len(rates) < 2:
        return
    mean = sum(1 / rate for rate in rates.values()) / len(rates)
    for card, rate in rates.items():
        ratio = 1 / rate / mean
        if ratio > SLOW:
            yield f"Smoke test: {card} takes {ratio:.2f} times the mean of {len(rates)} cards for the same products of matrices: {rate:.4g} TFLOP/s"


__all__ = ["slow_cards", "told"]
