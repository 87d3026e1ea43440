"""`doctor log`: logs and pasted reports."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.tasks import Answer, Options
from doctor.tasks.common import rulebook, selection
from doctor.tasks.examined import examined_text, reported


def run(options: Options, files: Sequence[str]) -> Answer:
    """Looks at logs or a pasted report."""
    book = rulebook()
    chosen = selection(options, book)
    problems: list[str] = []
    examination = examined_text(options, files, book, chosen, problems)
    return reported(options, chosen, examination, problems)
