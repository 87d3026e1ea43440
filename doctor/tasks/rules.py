"""`doctor rules`: all rules, or all fields that conditions may name."""

from __future__ import annotations

import click

from doctor.tasks import Answer, Options
from doctor.tasks.common import enveloped, rulebook, selection
from doctor.text import clean


def run(options: Options, fields: bool) -> Answer:
    """All rules, or all fields that conditions may name."""
    from doctor.fields import FIELDS
    from doctor.report import listing

    if fields:
        if options.as_json:
            return enveloped(options, fields=[listing.field_json(spec) for spec in FIELDS.values()])
        return Answer("".join(line + "\n" for line in listing.field_lines(options.speak)))
    book = rulebook()
    chosen = selection(options, book).chosen(book.rules.values())
    code = 3 if book.problems else 0
    for problem in book.problems:
        click.echo(f"doctor: {clean(problem.name)}: {clean(problem.why)}", err=True)
    if options.as_json:
        return enveloped(options, code, rules=[listing.rule_json(rule, options.language) for rule in listing.in_order(chosen)])
    return Answer("".join(line + "\n" for line in listing.rule_lines(chosen, options.language, options.speak, options.style)), code)
