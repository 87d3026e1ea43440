"""`doctor schema`: the JSON Schema of every answer."""

from __future__ import annotations

from doctor.tasks import Answer, Options


def run(options: Options) -> Answer:
    """The JSON Schema; with or without --json it is one JSON object."""
    from doctor.report.schema import text

    return Answer(text())
