"""`doctor stack`: the versions that are there, and the nearest releases that fit together."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_host
from doctor.tasks.examined import examined_text
from doctor.text import clean


def run(options: Options, files: Sequence[str], recorded: str | None, root: str | None, python: str | None) -> Answer:
    """Which versions are there, and the nearest releases that fit together."""
    from doctor.examine import Selection, examine_host
    from doctor.rulebook import Rulebook
    from doctor.stack import Installed, judge_stack, render_stack, stack_json

    if files and (recorded or root or python):
        raise Refused(options.speak("text_and_host"))
    nothing = Rulebook({}, {})
    if files:
        examination = examined_text(options, files, nothing, Selection(), [])
    else:
        examination = examine_host(open_host(options, recorded, root), nothing, Selection(), python=python)
    judged = judge_stack(Installed.from_facts(examination.facts))
    if options.as_json:
        return enveloped(options, stack=stack_json(judged))
    return Answer(clean(render_stack(judged, options.language)).rstrip("\n") + "\n")
