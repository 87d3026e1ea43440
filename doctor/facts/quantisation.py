"""What msModelSlim writes beside quantised weights: which type each tensor has. Pure; never raises on any text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from doctor.record import dataclass
from doctor.regex import regex
from doctor.text import clean_line

FLOAT = "FLOAT"
MOST_ENTRIES = 1_000_000
_TYPE = regex(r"FLOAT|(?:W\d+A\d+|W\d+A\d+C\d+|C\d+|FAKQuant|INT\d|FP\d)[A-Z0-9_]*", re.IGNORECASE)


@dataclass(frozen=True)
class QuantDescription:
    """A `quant_model_description*.json`: tensor name -> type ("W8A8_DYNAMIC", "FLOAT"); `other` are its remaining top-level fields."""

    path: str
    tensors: Mapping[str, str] = field(default_factory=dict)
    other: tuple[str, ...] = ()
    problem: str = ""

    @property
    def types(self) -> Mapping[str, int]:
        """How many tensors have each type, the floating ones left out."""
        return Counter(kind for kind in self.tensors.values() if kind != FLOAT)

    @property
    def main_type(self) -> str | None:
        """The type of most quantised tensors; None if none is quantised."""
        types = self.types
        return max(sorted(types), key=lambda kind: types[kind]) if types else None


def parse_description(text: str, path: str) -> QuantDescription:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return QuantDescription(path, problem="it is not JSON")
    if not isinstance(found, dict) or len(found) > MOST_ENTRIES:
        return QuantDescription(path, problem="it holds no object of tensors")
    tensors: dict[str, str] = {}
    other: list[str] = []
    for name, value in found.items():
        # Tensors have dotted names; model_quant_type, version, metadata and the like have not.
        if "." in name and isinstance(value, str) and _TYPE.fullmatch(value):
            tensors[clean_line(name)] = clean_line(value)
        elif len(other) < 100:
            other.append(clean_line(name)[:100])
    return QuantDescription(path, tensors, tuple(other))


__all__ = ["FLOAT", "QuantDescription", "parse_description"]
