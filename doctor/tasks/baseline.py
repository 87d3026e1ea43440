"""`doctor baseline write`: the causes that are known and do not count any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from doctor import __version__
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_host, rulebook
from doctor.tasks.configured import policy_of, replace_file
from doctor.tasks.examined import looked
from doctor.text import clean

FILE = "doctor-baseline.json"


def run(options: Options, action: str, path: str | None, recorded: str | None, root: str | None, python: str | None, logs: Sequence[str]) -> Answer:
    """Writes the causes of this host as they stand now. Another file than a baseline is never replaced."""
    from doctor.policy import BadBaseline, read_baseline, write_baseline

    del action  # there is only one
    target = path or FILE
    try:
        read_baseline(Path(target).read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except (OSError, BadBaseline, UnicodeDecodeError):
        raise Refused(options.speak("baseline_exists", path=clean(target))) from None
    book = rulebook()
    seen = looked(options, book, open_host(options, recorded, root), python, logs)
    from doctor.policy import judge
    from doctor.tasks.configured import today

    examination, _ = judge(seen.examination, policy_of(options, book), today())
    try:
        replace_file(target, write_baseline(examination.causes, __version__))
    except OSError as problem:
        raise Refused(options.speak("output_unwritten", path=clean(target), why=problem.strerror or problem)) from None
    said = options.speak("baseline_written", path=clean(target), count=len(examination.causes))
    return enveloped(options, baseline={"path": target, "causes": len(examination.causes)}) if options.as_json else Answer(said + "\n")
