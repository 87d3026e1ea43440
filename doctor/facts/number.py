"""Numbers out of untrusted text: a value or None, never an exception (Python refuses to convert absurdly long digits)."""

from __future__ import annotations

import re

from doctor.regex import regex

_WHOLE = regex(r"[+-]?[0-9]{1,18}", re.ASCII)
_DECIMAL = regex(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?", re.ASCII)
_SIZE = regex(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([kmgtp]?)i?b?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def whole(text: str | None) -> int | None:
    """ "42" -> 42; None for anything but an ASCII integer of at most 18 digits."""
    stripped = (text or "").strip()
    return int(stripped) if _WHOLE.fullmatch(stripped) else None


def decimal(text: str | None) -> float | None:
    """ "93.1" -> 93.1; None for "NA", "-" and the like."""
    stripped = (text or "").strip()
    return float(stripped) if _DECIMAL.fullmatch(stripped) else None


def hexadecimal(text: str | None) -> int | None:
    """ "0x19e5" or "19e5" -> 6629."""
    stripped = (text or "").strip().lower().removeprefix("0x")
    return int(stripped, 16) if re.fullmatch(r"[0-9a-f]{1,16}", stripped) else None


def size(text: str | None) -> int | None:
    """Bytes of a size with binary units, as container tools read it: "16g", "512m", "1GiB", "67108864"."""
    match = _SIZE.fullmatch((text or "").strip())
    return int(float(match[1]) * 1024 ** _POWERS[match[2].lower()]) if match else None


def span(text: str) -> int | None:
    """How many numbers a kernel list names: "0-7" -> 8, "0,2-3" -> 3; None if it is not such a list."""
    total = 0
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        low, high = whole(first), whole(last) if dash else whole(first)
        if low is None or high is None or low < 0 or high < low:
            return None
        total += high - low + 1
    return total
