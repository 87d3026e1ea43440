"""`doctor bundle`: what was seen, masked, in one file."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doctor.bundle.telling import counts, human
from doctor.bundle.words import WORDS
from doctor.locale import Speak, room_speaker
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_logs, rulebook, selection
from doctor.tasks.recorded import host_and_logs
from doctor.text import cell_width, clean

if TYPE_CHECKING:
    from doctor.bundle.gather import Gathered, Item

LARGEST_INCLUDED = 4 * 2**20
WIDEST_ITEM = 60


def run(
    options: Options,
    file: str | None,
    dry_run: bool,
    left_out: Sequence[str],
    redaction: str,
    included: Sequence[str],
    recorded: str | None,
    root: str | None,
    python: str | None,
    logs: Sequence[str],
) -> Answer:
    """Shows what a bundle would hold, or writes it."""
    say = room_speaker(WORDS, options.language)
    if not recorded and not root:
        lower_priority()
    gathered = _gathered(options, say, redaction, included, recorded, root, python, logs)
    try:
        gathered = gathered.without(left_out)
    except ValueError as unknown:
        raise Refused(say("no_such_item", name=clean(str(unknown)))) from None
    if dry_run:
        if options.as_json:
            return enveloped(options, bundle=_as_json(gathered))
        return Answer("".join(line + "\n" for line in preview(gathered, say)))
    return _written(options, say, gathered, file)


def lower_priority() -> None:
    """A serving machine comes first: no more than what is left of processor and disk. What it starts inherits it."""
    import psutil

    with contextlib.suppress(OSError):
        os.nice(10)
    with contextlib.suppress(OSError, AttributeError, psutil.Error):
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)


def _gathered(
    options: Options, say: Speak, redaction: str, included: Sequence[str], recorded: str | None, root: str | None, python: str | None, logs: Sequence[str]
) -> Gathered:
    from doctor.bundle.gather import Gathering, RedactionError, gather
    from doctor.bundle.results import newest_results
    from doctor.report.progress import Progress

    book = rulebook()
    host, sources = host_and_logs(options, recorded, root)
    results = [*_results(included, say), *([] if recorded or root else newest_results(os.environ, os.geteuid()))]
    wanted = Gathering(
        redaction, python, selection(options, book), options.language, tuple(results), find_logs=not (recorded or root), started=options.started
    )
    with Progress(options.speak, options.detail) as progress:
        try:
            return gather(host, book, wanted, [*sources, *open_logs(logs)], progress.heard, progress.read)
        except RedactionError as problem:
            raise Refused(say("not_masked", what=str(problem))) from None


def _results(included: Sequence[str], say: Speak) -> list[tuple[str, str, str]]:
    """(item, member, text) of results that are put in: smoke tests, watches."""
    found = []
    for index, name in enumerate(included, 1):
        try:
            with open(name, "rb") as file:
                data = file.read(LARGEST_INCLUDED + 1)
        except OSError as problem:
            raise Refused(say("not_readable", file=clean(name), why=problem.strerror)) from None
        if len(data) > LARGEST_INCLUDED:
            raise Refused(say("not_readable", file=clean(name), why=f"> {LARGEST_INCLUDED // 2**20} MiB"))
        text = clean(data.decode("utf-8", "replace"))
        kind = "smoke" if "smoke" in os.path.basename(name).lower() or '"smoke"' in text[:4000] else "watch" if "watch" in os.path.basename(name).lower() or '"watch"' in text[:4000] else "result"
        found.append((f"{kind}:{index}", f"results/{index:02}-{kind}{'.json' if name.endswith('.json') else '.txt'}", text))
    return found


def _written(options: Options, say: Speak, gathered: Gathered, file: str | None) -> Answer:
    from doctor.bundle import pack
    from doctor.bundle.gather import RedactionError

    path = pack.marked(Path(file or pack.default_name(gathered.time, gathered.profile)), gathered.profile)
    try:
        members = gathered.members()
        size = pack.write(members, path, gathered.time)
    except RedactionError as problem:
        raise Refused(say("not_masked", what=str(problem))) from None
    except pack.PackError as problem:
        raise Refused(clean(str(problem))) from None
    for told in gathered.problems:
        click.echo(f"doctor: {clean(told)}", err=True)
    if options.as_json:
        return enveloped(options, bundle={**_as_json(gathered), "file": str(path), "size": size, "members": len(members)})
    shown = clean(str(path))
    lines = [say("written", file=shown, size=human(size), members=len(members), profile=gathered.profile, quoted=shlex.quote(shown)), *_masked_line(gathered, say)]
    if gathered.profile == "raw":
        lines.append(say("unredacted"))
    return Answer("".join(line + "\n" for line in lines))


def _masked_line(gathered: Gathered, say: Speak) -> list[str]:
    told = counts(gathered.masked, say)
    return [f"{say('masked')}: {told}"] if told else []


def preview(gathered: Gathered, say: Speak) -> list[str]:
    """The table of items."""
    from doctor.text import truncate

    rows = [(truncate(clean(item.id), WIDEST_ITEM), human(item.size), _about(item, gathered, say)) for item in gathered.items]
    width = max((cell_width(row[0]) for row in rows), default=0)
    lines = [say("preview", profile=gathered.profile)]
    for name, size, about in rows:
        lines.append(f"  {name}{' ' * (width - cell_width(name))}  {size:>9}  {about}".rstrip())
    return [*lines, *_masked_line(gathered, say)]


def _about(item: Item, gathered: Gathered, say: Speak) -> str:
    if item.id in gathered.gone:
        return say("left_out_mark")
    parts = []
    if told := counts(item.masked, say):
        parts.append(f"{say('masked')}: {told}")
    lacking = {reason: count for reason, count in item.lacking.items() if reason not in ("missing", "not recorded")}
    if lacking:
        parts.append(f"{say('lacking')}: " + ", ".join(f"{count} {reason}" for reason, count in sorted(lacking.items())))
    if item.left_out:
        parts.append(say("lines_left_out", count=item.left_out))
    return "; ".join(parts)


def _as_json(gathered: Gathered) -> dict[str, Any]:
    return {
        "profile": gathered.profile,
        "masked": dict(gathered.masked),
        "items": [
            {"id": item.id, "size": item.size, "masked": dict(item.masked), "lacking": dict(item.lacking), "lines_left_out": item.left_out, "left_out": item.id in gathered.gone}
            for item in gathered.items
        ],
        "problems": list(gathered.problems),
    }
