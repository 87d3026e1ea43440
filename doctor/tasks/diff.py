"""`doctor diff`: two or more machines, snapshots or bundles, side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from doctor.bundle.words import WORDS
from doctor.locale import Speak, room_speaker
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_host, rulebook, selection
from doctor.tasks.recorded import opened
from doctor.text import clean, clean_line, truncate

if TYPE_CHECKING:
    from doctor.bundle.diff import Comparison, Difference, Side
    from doctor.diagnosis import Cause
    from doctor.examine import Selection
    from doctor.host import Host
    from doctor.logscan.scan import Chunk
    from doctor.rulebook import Rulebook
    from doctor.tasks.diff_faults import Look

LIVE = "live"
SHOWN_RULES = 3
SHOWN_REST = 40
"""Differences that no rule looks at are told so far, unless -v is given."""


def run(options: Options, sides: Sequence[str]) -> Answer:
    """Compares what is known of each."""
    from doctor.bundle.diff import compare
    from doctor.report.json_format import cause_json
    from doctor.tasks.diff_faults import RULE, causes

    say = room_speaker(WORDS, options.language)
    named = [*sides] if len(sides) > 1 else [LIVE, *sides]
    if len(named) < 2 or (len(sides) == 1 and sides[0] == LIVE):
        raise Refused(say("one_side"))
    book = rulebook()
    known = [_side(options, book, name, label) for name, label in zip(named, _labels(named), strict=True)]
    compared = compare([side for side, _ in known], book.rules)
    chosen = {rule.id for rule in selection(options, book).chosen(book.rules.values())}
    new = causes([look for _, look in known if look is not None], book) if RULE in chosen else ()
    if options.as_json:
        return enveloped(options, diff=_as_json(compared) | {"causes": [cause_json(cause, options.language, book.rules) for cause in new]})
    return Answer("".join(clean(line).rstrip() + "\n" for line in [*_lines(compared, options, say), *_told(new, options)]))


def _labels(named: Sequence[str]) -> list[str]:
    """The last parts of the paths that tell them apart."""
    parts = [name.rstrip("/").split("/") for name in named]
    for depth in range(1, 6):
        labels = ["/".join(each[-depth:]) for each in parts]
        if len(set(labels)) == len(labels):
            return [clean_line(label) for label in labels]
    return [f"{index}: {clean_line(name)}" for index, name in enumerate(named, 1)]


def _side(options: Options, book: Rulebook, name: str, label: str) -> tuple[Side, Look | None]:
    """What is known of it; with the look at its cards, where it is a machine."""
    from doctor.bundle.diff import side_of
    from doctor.examine import examine_text
    from doctor.logscan.sources import all_chunks

    chosen = selection(options, book)
    if name == LIVE:
        return _machine(book, open_host(options, None, None), chosen, label, ())
    found = opened(os.path.abspath(name) if os.path.isdir(name) else name)
    chunks = all_chunks(found.logs, [], lambda _: None)
    if found.host is None:
        return side_of(label, examine_text(label, chunks, book, chosen)), None
    return _machine(book, found.host, chosen, label, chunks)


def _machine(book: Rulebook, host: Host, chosen: Selection, label: str, chunks: Iterable[Chunk]) -> tuple[Side, Look]:
    from doctor.bundle.diff import side_of
    from doctor.examine import examine_host
    from doctor.facts import known
    from doctor.facts.npu import NpuDetail
    from doctor.tasks.diff_faults import Look

    examination = examine_host(host, book, chosen, chunks=chunks)
    return side_of(label, examination), Look(host.label, host.now(), known(examination.facts.get(NpuDetail)))


def _told(new: Sequence[Cause], options: Options) -> list[str]:
    """What the comparison itself shows."""
    from doctor.report.text_format import steps

    lines: list[str] = []
    for cause in new:
        finding = cause.finding
        lines += ["", options.style.paint("strong", f"{finding.title[options.language]} [{finding.rule}]")]
        lines += [f"  {line}" for evidence in finding.evidence for line in evidence.text.split("\n")]
        for fix in finding.fixes:
            lines += [f"  {fix.title[options.language]}", *steps(fix.steps, options.style, options.language, "  ")]
    return lines


def _lines(compared: Comparison, options: Options, say: Speak) -> list[str]:
    lines = [" | ".join(compared.labels)]
    groups: dict[str, list[Difference]] = {}
    for each in compared.differences:
        group = "section_findings" if each.section == "findings" else "matters" if each.found else "looked_at" if each.rules else "rest"
        groups.setdefault(group, []).append(each)
    for group, differences in groups.items():
        lines += ["", options.style.paint("strong", say(group))]
        shown = differences if options.detail > 0 or group != "rest" else differences[:SHOWN_REST]
        section = ""
        for each in shown:
            if each.section != section and group != "section_findings":
                section = each.section
                lines.append(f"  {say(f'section_{section}')}")
            lines += _difference(each, compared, say)
        if len(shown) < len(differences):
            lines.append("    " + say("more_rules", count=len(differences) - len(shown)) + " (-v)")
    lines.append("")
    lines += [say("not_told", label=label, sections=", ".join(say(f"section_{each}") for each in sections)) for label, sections in compared.unknown.items()]
    end = say("differs", count=len(compared.differences), same=compared.same) if compared.differences else say("nothing_differs", same=compared.same)
    return [*lines, end]


def _difference(each: Difference, compared: Comparison, say: Speak) -> list[str]:
    values = " | ".join(truncate(value, 70) for value in each.values) if len(each.values) == 2 else ""
    lines = [f"    {each.key}: {values}".rstrip(": ")]
    if len(each.values) > 2:
        by_value: dict[str, list[int]] = {}
        for index, value in enumerate(each.values):
            by_value.setdefault(value, []).append(index)
        for value, where in sorted(by_value.items(), key=lambda item: -len(item[1])):
            odd = f"  <- {say('odd')}" if each.odd and where[0] in each.odd else ""
            lines.append(f"      {truncate(value, 70)}: {', '.join(compared.labels[index] for index in where)}{odd}")
    touching = each.found or each.rules
    if touching and each.section != "findings":
        more = f", {say('more_rules', count=len(touching) - SHOWN_RULES)}" if len(touching) > SHOWN_RULES else ""
        lines.append("      " + say("rules_touching", names=", ".join(touching[:SHOWN_RULES]) + more))
    return lines


def _as_json(compared: Comparison) -> dict[str, Any]:
    return {
        "labels": list(compared.labels),
        "same": compared.same,
        "unknown": {label: list(sections) for label, sections in compared.unknown.items()},
        "differences": [
            {"section": each.section, "key": each.key, "values": list(each.values), "rules": list(each.rules), "found": list(each.found), "odd": [compared.labels[index] for index in each.odd]}
            for each in compared.differences
        ],
    }
