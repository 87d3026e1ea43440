"""`doctor rules`: all rules, all fields that conditions may name, or what each rule's patterns cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from doctor.tasks import Answer, Options
from doctor.tasks.common import enveloped, rulebook, selection
from doctor.text import clean, truncate

if TYPE_CHECKING:
    from doctor.rule import Rule


def run(options: Options, fields: bool, timings: bool = False) -> Answer:
    """All rules, all fields that conditions may name, or the costs of rules."""
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
    if timings:
        return _timed(options, chosen, book.literals, code)
    if options.as_json:
        return enveloped(options, code, rules=[listing.rule_json(rule, options.language) for rule in listing.in_order(chosen)])
    return Answer("".join(line + "\n" for line in listing.rule_lines(chosen, options.language, options.speak, options.style)), code)


def _timed(options: Options, rules: Iterable[Rule], literals: Mapping[str, frozenset[str]], code: int) -> Answer:
    """The slowest pattern of each rule that has any, the worst rule first."""
    from doctor.logscan.cost import worst
    from doctor.rulebook import patterns_of

    known: dict[str, float] = {}
    rows: list[tuple[float, str, str]] = []
    for rule in rules:
        costs = {}
        for pattern in patterns_of(rule):
            if pattern not in known:
                known[pattern] = worst(pattern, literals[pattern])
            costs[pattern] = known[pattern]
        if costs:
            slowest = max(costs, key=lambda pattern: costs[pattern])
            rows.append((costs[slowest] * 1000, rule.id, slowest))
    rows.sort(key=lambda row: (-row[0], row[1]))
    if options.as_json:
        return enveloped(options, code, timings=[{"rule": rule, "milliseconds": round(cost, 3), "pattern": pattern} for cost, rule, pattern in rows])
    return Answer("".join(f"{cost:9.3f} ms  {rule}  {truncate(clean(pattern), 60)}\n" for cost, rule, pattern in rows), code)
