"""What could be done about a cause: fixes as data. Nothing here changes anything; `doctor.apply` alone may."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from doctor.words import Words


class Safety(enum.Enum):
    """What a fix may do to a serving machine."""

    SAFE = "safe"
    """Reversible, nothing restarts."""
    ASK = "ask"
    """Changes behaviour, or restarts or installs something."""
    SHOW = "show"
    """Printed with every value filled in, never executed: driver, firmware, reset, reboot, kernel command line."""


@dataclass(frozen=True)
class Show:
    """A step for a person: a sentence or a command line, in both languages."""

    text: Words


Step = Show
"""The closed union of steps. Executable steps join it with `doctor.apply`."""


@dataclass(frozen=True)
class Fix:
    """One way out. `verify` says how to see that it worked."""

    id: str
    title: Words
    safety: Safety
    steps: tuple[Step, ...]
    verify: Words | None = None
