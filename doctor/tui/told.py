"""A sentence that is said when it is shown, so that it follows the language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Told:
    """Its key in the words of a room or of the app, and its values."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


__all__ = ["Told"]
