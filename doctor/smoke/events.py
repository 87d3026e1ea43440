"""What a step tells while it runs: one JSON object a line, from a process that may be broken or hostile.

Contract: `parse` never raises; what is no event is None; every text is cleaned and cut, every number finite.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from doctor.text import clean_line

TEXT = 600
"""Characters kept of any text in an event."""
MOST_EVENTS = 5000


@dataclass(frozen=True)
class Stage:
    """What the step does next."""

    name: str


@dataclass(frozen=True)
class Figure:
    """A measured number. `expected` is what it should be, or may be at the most; None where nothing is known."""

    name: str
    value: float
    unit: str = ""
    subject: str = ""
    expected: float | None = None


@dataclass(frozen=True)
class Check:
    """A comparison."""

    name: str
    passed: bool
    detail: str = ""
    subject: str = ""


@dataclass(frozen=True)
class Note:
    """Something left out and why, or found on the way."""

    name: str
    detail: str = ""


@dataclass(frozen=True)
class Occupied:
    """Something that must be free again afterwards; kind "port"."""

    kind: str
    name: str


@dataclass(frozen=True)
class Line:
    """One line of what the step or its libraries printed, cleaned."""

    text: str


Event = Stage | Figure | Check | Note | Occupied


def parse(line: bytes) -> Event | None:
    """The event of one line; None for anything else."""
    try:
        told = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not _text(told, "name"):
        return None
    name = _text(told, "name")
    match told.get("event"):
        case "stage":
            return Stage(name)
        case "figure":
            value = _number(told.get("value"))
            return None if value is None else Figure(name, value, _text(told, "unit"), _text(told, "subject"), _number(told.get("expected")))
        case "check":
            return Check(name, told.get("passed") is True, _text(told, "detail"), _text(told, "subject"))
        case "note":
            return Note(name, _text(told, "detail"))
        case "occupied":
            return Occupied(_text(told, "kind"), name)
    return None


def _text(told: dict[str, Any], key: str) -> str:
    value = told.get(key, "")
    return clean_line(value[: 4 * TEXT])[:TEXT] if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
