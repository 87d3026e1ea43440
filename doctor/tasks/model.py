"""`doctor model`: a model's folder, and whether it fits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import open_host, rulebook, selection
from doctor.tasks.examined import reported
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.examine import Selection
    from doctor.modelcheck import Checked


def run(
    options: Options, folder: str, hashing: bool, hbm: str | None, chip: str | None, recorded: str | None, root: str | None, python: str | None, **flags: Any
) -> Answer:
    """Looks at a model's folder: whether it is whole, and whether it fits."""
    from doctor.facts.model import Model, read_model
    from doctor.facts.number import size
    from doctor.modelcheck import command_of, examine_model, hashed
    from doctor.report.progress import Progress

    card = size(hbm)
    if hbm is not None and not card:
        raise Refused(options.speak("model_bad_size", size=clean(hbm)))
    host, book = open_host(options, recorded, root), rulebook()
    chosen = selection(options, book)
    path = folder if recorded or root else os.path.abspath(folder)
    given = {name.replace("_", "-"): "" if value is True else str(value) for name, value in flags.items() if value not in (None, False)}
    found = read_model(host, path.rstrip("/") or "/", command_of(path, given))
    if not isinstance(found, Model):
        raise Refused(options.speak("model_no_folder", folder=clean(path), why=clean(str(found.detail or found.why.value))))
    took = None
    if hashing:
        found, took = hashed(host, found, lambda name: click.echo(f"doctor: SHA-256 {clean(name)}", err=True) if options.detail >= 0 else None)
    with Progress(options.speak, options.detail) as progress:
        checked = examine_model(
            host, found, book, chosen, python=python, hbm_mb=card // 2**20 if card else None, chip=chip, hashing=took, heard=progress.heard
        )
    return _with_model(options, chosen, checked)


def _with_model(options: Options, chosen: Selection, checked: Checked) -> Answer:
    """The ordinary report, with the model's section."""
    import json

    from doctor.report.envelope import dumps
    from doctor.report.model_section import model_json, model_lines

    answer = reported(options, chosen, checked.examination, [])
    if options.as_json:
        return Answer(dumps({**json.loads(answer.text), "model": model_json(checked)}), answer.exit_code)
    section = "" if options.detail < 0 and checked.hashing is None else "".join(line + "\n" for line in model_lines(checked, options.speak))
    return Answer(answer.text + section, answer.exit_code)
