"""Signs that a model's output is garbage, whatever the model is: one token nearly everywhere, numbers that are none, endless repetition.

Pure: standard library only, so that the tests of doctor load it as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

ONE_TOKEN = 0.8
"""Share of one token from which on an answer is garbage (`!!!!`); real answers stay below 0.2."""
FEWEST = 16
"""Tokens below which a share says nothing."""
PERIOD = 16
"""Longest period of a repetition that is looked for, in tokens."""
REPEATS = 8
"""So often must the last tokens repeat to be called endless; lists and tables repeat less exactly."""


def one_token(tokens: Sequence[Any]) -> str:
    """What is wrong, or ""."""
    if len(tokens) < FEWEST:
        return ""
    token, count = Counter(tokens).most_common(1)[0]
    return f"garbage output: {count} of {len(tokens)} tokens are {token!r}" if count > ONE_TOKEN * len(tokens) else ""


def endless(tokens: Sequence[Any]) -> str:
    """What repeats at the end, or "". A period of one is left to `one_token`."""
    for period in range(2, PERIOD + 1):
        size = period * REPEATS
        tail = list(tokens[-size:])
        if len(tail) == size and len(set(tail)) > 1 and all(tail[index] == tail[index % period] for index in range(size)):
            return f"repetitive output: the last {size} tokens repeat {tail[:period]!r}"
    return ""


def not_numbers(values: Sequence[Any]) -> str:
    """Log-probabilities that are no numbers, or ""."""
    bad = sum(1 for value in values if not isinstance(value, (int, float)) or not math.isfinite(value))
    return f"logits are nan: {bad} of {len(values)} log-probabilities are not finite" if bad else ""


def look(say: Any, answers: Sequence[Sequence[Any]], subject: str = "", repetition: bool = True) -> None:
    """Tells one check each, over all answers."""
    found = next((text for tokens in answers if (text := one_token(tokens))), "")
    say.check("not one token nearly everywhere", not found, found, subject)
    if repetition:
        found = next((text for tokens in answers if (text := endless(tokens))), "")
        say.check("no endless repetition", not found, found, subject)
