"""Sizes, rates and times as people read them. Pure."""

from __future__ import annotations

import re

from doctor.watch.judge import Unit

_SIZES = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_SPANS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def size(amount: float) -> str:
    """ "2.04 GiB"; bytes below one KiB."""
    for name, unit in _SIZES:
        if abs(amount) >= unit:
            value = amount / unit
            return f"{value:.0f} {name}" if abs(value) >= 100 else f"{value:.3g} {name}"
    return f"{amount:.0f} B"


def counted(amount: float, unit: Unit) -> str:
    """An amount of a series' unit."""
    return size(amount) if unit is Unit.BYTES else f"{amount:.3g}" if abs(amount) < 1000 else f"{amount:.0f}"


def span(seconds: float) -> str:
    """ "45 s", "12 min", "6.5 h", "3.2 d"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172800 else f"{seconds / 86400:.1f} d"


def seconds_of(text: str) -> float | None:
    """Seconds of "90", "30s", "5m", "2h", "1d", "1h30m"; None for anything else."""
    text = text.strip().lower()
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,3})?", text):
        return float(text)
    if not re.fullmatch(r"(?:[0-9]{1,9}(?:\.[0-9]{1,3})?[smhd]){1,4}", text):
        return None
    return sum(float(number) * _SPANS[unit] for number, unit in re.findall(r"([0-9.]+)([smhd])", text))


__all__ = ["counted", "seconds_of", "size", "span"]
