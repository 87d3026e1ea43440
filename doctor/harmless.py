"""Lines of healthy runs that look like errors, and why they are none: the table behind `doctor explain "LINE"`."""

from __future__ import annotations

import re
from typing import Any

from doctor.logscan.prefix import message
from doctor.record import dataclass
from doctor.rulepackage import data_text
from doctor.words import Words


@dataclass(frozen=True)
class Harmless:
    """One kind of line: a pattern as in cause files, and the reason."""

    line: str
    reason: Words


def table() -> tuple[Harmless, ...]:
    """Every kind of harmless line that is known."""
    import yaml

    rows: list[dict[str, Any]] = yaml.load(data_text("harmless.yaml"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return tuple(Harmless(row["line"], Words(**row["reason"])) for row in rows)


def harmless(line: str) -> Harmless | None:
    """What is known of this line, prefixes taken off; None if it is not on the list."""
    text = message(line)
    return next((kind for kind in table() if re.search(kind.line, text, re.ASCII)), None)
