"""`doctor check`: a host, live or recorded."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.tasks import Answer, Options
from doctor.tasks.common import open_host, rulebook, selection
from doctor.tasks.examined import examined, examined_text, reported
from doctor.tasks.recorded import opened, recorded_logs


def run(options: Options, recorded: str | None, root: str | None, python: str | None, logs: Sequence[str]) -> Answer:
    """Looks at a host."""
    book = rulebook()
    if recorded and not root and (found := opened(recorded)).host is None:  # logs and tables of another tool
        chosen, problems = selection(options, book), list[str]()
        return reported(options, chosen, examined_text(options, logs, book, chosen, problems, found.logs), problems)
    return examined(options, book, open_host(options, recorded, root), python, logs, recorded=recorded_logs(recorded))
