"""The fleet's answer for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.finding import Severity
from doctor.fleet.between import Fleet
from doctor.fleet.node import Node, Standing
from doctor.locale import Speak
from doctor.report.style import Style, short
from doctor.text import clean

NAMES, GROUPS, ODD, FIRST = 6, 8, 20, 5
"""Nodes named in one line, groups of them, odd ones and first errors told, unless all are asked for."""


def lines(fleet: Fleet, say: Speak, language: str, style: Style, seconds: float, detail: int) -> Iterator[str]:
    """The text, what decides first."""
    every = detail > 0
    yield say("summary", judged=sum(node.standing is Standing.JUDGED for node in fleet.nodes), total=len(fleet.nodes))
    for node in fleet.nodes:
        if node.standing is not Standing.JUDGED:
            yield from style.lines(f"{node.name}: {say(node.standing.value)}" + (f" ({short(node.why, 300)})" if node.why else ""), "  ")
    if fleet.between:
        yield from _head(say("between"), style)
    for item in fleet.between:
        page = f" [{item.rule}]" if item.rule else ""
        yield from style.lines(item.title[language] + page, "      ", _state(item.severity, say, style))
        shown = list(item.groups.items()) if every else list(item.groups.items())[:GROUPS]
        for value, names in shown:
            yield from style.lines(f"{short(value, 120)}: {_names(names, say, every)}", "        ")
        if len(shown) < len(item.groups):
            yield "        " + say("and_more", count=len(item.groups) - len(shown)) + " (-v)"
    if fleet.common:
        yield from _head(say("common"), style)
    for cause in fleet.common:
        where = say("on_all") if cause.all else say("on_some", count=len(cause.nodes), names=_names(cause.nodes, say, every))
        yield from style.lines(f"{cause.title[language]} [{cause.rule}] — {where}", "      ", _state(cause.severity, say, style))
    yield from _first(fleet, say, style, every)
    yield from _odd(fleet, say, style, every)
    if every:
        yield from _head(say("nodes"), style)
        for node in fleet.nodes:
            yield from style.lines(f"{node.name}: {', '.join(cause.rule for cause in node.causes) or say('node_clear')}", "    ", "  ")
    yield ""
    counts = Counter(cause.severity for node in fleet.nodes for cause in node.causes)
    missing = sum(node.standing is not Standing.JUDGED for node in fleet.nodes)
    yield from style.lines(
        say(
            "end", fail=counts[Severity.FAIL], warn=counts[Severity.WARN], note=counts[Severity.NOTE], judged=len(fleet.nodes) - missing,
            between=len(fleet.between), missing=missing, seconds=seconds,
        ),
        "",
    )  # fmt: skip


def _head(text: str, style: Style) -> Iterator[str]:
    yield ""
    yield style.paint("strong", text)


def _state(severity: Severity, say: Speak, style: Style) -> str:
    return "  " + style.paint(severity.name, say(severity.name)) + "  "


def _names(names: tuple[str, ...], say: Speak, every: bool) -> str:
    shown = names if every else names[:NAMES]
    return ", ".join(clean(name) for name in shown) + (", … " + say("and_more", count=len(names) - len(shown)) if len(shown) < len(names) else "")


def _first(fleet: Fleet, say: Speak, style: Style, every: bool) -> Iterator[str]:
    if not fleet.first:
        return
    yield from _head(say("first"), style)
    for node in fleet.first if every else fleet.first[:FIRST]:
        error = node.first_error
        assert error is not None
        time = error.time.isoformat(" ", "milliseconds") if error.time else say("no_time")
        rank = f" {say('rank', rank=error.rank)}" if error.rank else ""
        yield from style.lines(f"{time}  {node.name}{rank}  {short(error.source, 80)}:{error.line}  {short(error.text, 200)}", "    ", "  ")


def _odd(fleet: Fleet, say: Speak, style: Style, every: bool) -> Iterator[str]:
    if not fleet.odd:
        return
    yield from _head(say("odd"), style)
    shown = fleet.odd if every else fleet.odd[:ODD]
    for item in shown:
        rules = f" [{', '.join(item.difference.rules[:3])}]" if item.difference.rules else ""
        told = "; ".join(f"{short(value, 60)}: {_names(names, say, every)}" for value, names in item.groups.items())
        yield from style.lines(f"{item.difference.key}: {told} ({say('usual', value=short(item.usual, 60))}){rules}", "    ", "  ")
    if len(shown) < len(fleet.odd):
        yield "  " + say("and_more", count=len(fleet.odd) - len(shown)) + " (-v)"


def as_json(fleet: Fleet, language: str) -> dict[str, Any]:
    """Everything."""
    return {
        "nodes": [_node(node, language) for node in fleet.nodes],
        "between": [
            {"rule": item.rule or None, "severity": item.severity.word, "title": item.title[language], "groups": _groups(item.groups)} for item in fleet.between
        ],
        "common": [
            {"rule": item.rule, "severity": item.severity.word, "title": item.title[language], "nodes": list(item.nodes), "all": item.all} for item in fleet.common
        ],
        "odd": [
            {"section": item.difference.section, "key": item.difference.key, "usual": item.usual, "groups": _groups(item.groups), "rules": list(item.difference.rules)}
            for item in fleet.odd
        ],
        "first": [node.name for node in fleet.first],
    }


def _groups(groups: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    return [{"value": value, "nodes": list(names)} for value, names in groups.items()]


def _node(node: Node, language: str) -> dict[str, Any]:
    error = node.first_error
    return {
        "name": node.name,
        "standing": node.standing.value,
        "why": node.why,
        "clear": node.clear,
        "skipped": node.skipped,
        "broken": list(node.broken),
        "clock_behind": round(node.late, 1) if node.late is not None else None,
        "causes": [
            {"rule": cause.rule, "severity": cause.severity.word, "title": cause.title[language], "subject": cause.subject, "found": cause.found} for cause in node.causes
        ],
        "first_error": {
            "time": error.time.isoformat() if error.time else None, "rank": error.rank, "source": error.source, "line": error.line, "text": error.text,
        } if error else None,
    }  # fmt: skip


__all__ = ["as_json", "lines"]
