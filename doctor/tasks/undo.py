"""`doctor undo`: what a fix changed is put back."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from doctor.locale import Speak
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped
from doctor.tasks.fix import UNVERIFIED, isolated, refusal, speaker
from doctor.text import clean, clean_line

if TYPE_CHECKING:
    from doctor.apply.engine import Site, Undone


def run(options: Options, transaction: str, root: str | None) -> Answer:
    """Undoes the newest transaction that stands, or the one that is named."""
    from doctor.apply.engine import TROUBLE, ForeignError, RefusedError, undo

    speak = speaker(options)
    try:
        with isolated():
            done = undo(place(options, root), transaction)
    except RefusedError as problem:
        if problem.kind in ("nothing-to-undo", "already-undone"):
            told = refusal(speak, problem)
            return enveloped(options, undo={"transaction": problem.about or None, "put_back": [], "left": []}) if options.as_json else Answer(told + "\n")
        raise Refused(refusal(speak, problem)) from None
    except ForeignError as problem:
        lines = []
        for item in problem.foreign:
            lines += [speak("undo_refused", subject=clean_line(item.subject)), *clean(item.difference).splitlines()]
            lines += [speak("undo_later", later=item.later)] if item.later else []
        if options.as_json:
            foreign = [{"subject": item.subject, "difference": item.difference, "later": item.later or None} for item in problem.foreign]
            return enveloped(options, UNVERIFIED, undo={"refused": foreign, "put_back": [], "left": []})
        return Answer("\n".join(lines) + "\n", UNVERIFIED)
    except TROUBLE as problem:
        click.echo(f"doctor: {clean_line(str(problem))}", err=True)
        return enveloped(options, UNVERIFIED, error={"kind": "undo", "message": str(problem)}) if options.as_json else Answer("", UNVERIFIED)
    if options.as_json:
        gone = [{"subject": each.subject, "argv": list(each.argv)} for each in done.put_back.gone]
        made = {"transaction": done.transaction, "put_back": list(done.put_back.subjects), "left": list(done.put_back.left), "gone": gone}
        return enveloped(options, undo=made)
    return Answer("\n".join(_lines(done, speak)) + "\n")


def _lines(done: Undone, speak: Speak) -> Iterator[str]:
    back = done.put_back
    yield speak("undone" if back.subjects else "undone_nothing", transaction=done.transaction)
    yield from (f"  {clean_line(subject)}" for subject in back.subjects)
    for each in back.gone:
        yield speak("undone_gone" if each.argv else "undone_gone_unknown", subject=clean_line(each.subject))
        if each.argv:
            yield f"  {shlex.join(clean_line(word) for word in each.argv)}"
    left = [subject for subject in back.left if subject not in {each.subject for each in back.gone}]
    if left:
        yield speak("undone_left", what=clean_line(", ".join(left)))


def place(options: Options, root: str | None) -> Site:
    """The machine or the root whose journal is asked; no rule is needed for that."""
    from doctor.apply.engine import Site
    from doctor.rulebook import Rulebook

    if root is not None and not os.path.isdir(root):
        raise Refused(options.speak("no_root", folder=clean_line(root)))
    return Site(Rulebook({}, {}), os.path.abspath(root) if root else "/")
