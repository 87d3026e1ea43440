"""What several tasks need: the rule book, the host, the logs and the rules that were asked for, and the envelope of an answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from doctor.locale import Speak
from doctor.tasks import Answer, Options, Refused
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.examine import Selection
    from doctor.host import Host
    from doctor.logscan.sources import Source
    from doctor.rulebook import Rulebook


def rulebook() -> Rulebook:
    from doctor.rulebook import load

    return load()


def open_host(options: Options, recorded: str | None, root: str | None) -> Host:
    """The recorded host, the one below `root`, or this machine. Raises `Refused` where it cannot be opened."""
    from doctor.host.profiles import limited

    if recorded is not None and root is not None:
        raise Refused(options.speak("from_and_root"))
    if recorded is not None:
        from doctor.tasks.recorded import recorded_host

        return limited(recorded_host(options, recorded), options.profile)
    if root is not None and not os.path.isdir(root):
        raise Refused(options.speak("no_root", folder=clean(root)))
    from doctor.host.live import LiveHost

    return limited(LiveHost(root or "/", options.timeout_scale), options.profile)


def open_logs(names: Sequence[str]) -> list[Source]:
    if not names:
        return []
    from doctor.logscan.sources import SourceError, open_sources

    try:
        return open_sources(names)
    except SourceError as problem:
        raise Refused(clean(str(problem))) from None


def label_of(sources: Sequence[Source], speak: Speak) -> str:
    if len(sources) == 1:
        return sources[0].label
    names = ", ".join(source.label for source in sources[:3]) + (", …" if len(sources) > 3 else "")
    return speak("sources", count=len(sources), names=names)


def selection(options: Options, book: Rulebook) -> Selection:
    """The rules that were asked for. Raises `Refused` where a glob names nothing, or nothing is left."""
    from doctor.examine import Selection

    chosen = Selection(options.only, options.skip)
    names = {name for rule in book.rules.values() for name in (rule.id, rule.area, *rule.formerly)}
    for option, globs in (("--only", options.only), ("--skip", options.skip)):
        unknown = [glob for glob in globs if not any(fnmatchcase(name, glob) for name in names)]
        if unknown:
            from doctor.report.page import nearest

            message = options.speak("unknown_names", option=option, names=", ".join(unknown))
            raise Refused(with_nearest(options, message, [near for glob in unknown for near in nearest(glob, names)]))
    if (options.only or options.skip) and not chosen.chosen(book.rules.values()):
        raise Refused(options.speak("nothing_left"))
    return chosen


def with_nearest(options: Options, message: str, names: Sequence[str]) -> str:
    near = options.speak("nearest", names=", ".join(dict.fromkeys(names))) if names else options.speak("see_rules")
    return f"{clean(message)} {near}"


def output(options: Options, text: str) -> Answer:
    """A text that is the same in every language, in the envelope where JSON is asked for."""
    return enveloped(options, output=text) if options.as_json else Answer(text.rstrip("\n") + "\n")


def enveloped(options: Options, exit_code: int = 0, **added: Any) -> Answer:
    from doctor.report.envelope import dumps, envelope

    return Answer(dumps(envelope(options.command, options.started, options.language, exit_code, **added)), exit_code)
