"""`doctor check`: a host, live or recorded."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.tasks import Answer, Options
from doctor.tasks.common import open_host, rulebook
from doctor.tasks.examined import examined


def run(options: Options, recorded: str | None, root: str | None, python: str | None, logs: Sequence[str]) -> Answer:
    """Looks at a host."""
    book = rulebook()
    return examined(options, book, open_host(options, recorded, root), python, logs)
