"""`doctor history`: the journal of what fixes have changed."""

from __future__ import annotations

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped
from doctor.tasks.fix import refusal, speaker
from doctor.tasks.undo import place


def run(options: Options, root: str | None) -> Answer:
    """Every transaction, oldest first."""
    from doctor.apply.engine import RefusedError, history
    from doctor.apply.planshow import history_lines, transaction_json

    speak = speaker(options)
    try:
        found = history(place(options, root))
    except RefusedError as problem:
        raise Refused(refusal(speak, problem)) from None
    if options.as_json:
        return enveloped(options, history=[transaction_json(one) for one in found])
    return Answer("".join(line + "\n" for line in history_lines(found, speak, options.style)))
