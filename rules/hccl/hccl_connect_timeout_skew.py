"""Compares when the ranks of one group entered HcclCommInitRootInfo with how long HCCL waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from doctor.facts.target import Environment
from doctor.finding import Basis, Evidence, Hit
from doctor.logscan.scan import Match
from doctor.logscan.signature import SHOWN, Matches

DEFAULT_SECONDS = 120
GRACE_SECONDS = 20
"""HCCL waits this much longer than HCCL_CONNECT_TIMEOUT says (HCCL's guide to fault diagnosis)."""


def judge(matches: Matches, environment: Environment | None) -> Iterator[Hit]:
    groups: dict[str, list[tuple[datetime, Match]]] = {}
    for match in matches["entry"]:
        at = _time(match.groups["time"])
        if at is not None:
            groups.setdefault(match.groups["group"], []).append((at, match))
    limit = _limit(matches, environment)
    for entries in groups.values():
        (first, early), (last, late) = min(entries, key=lambda item: item[0]), max(entries, key=lambda item: item[0])
        apart = (last - first).total_seconds()
        if early.groups["rank"] != late.groups["rank"] and apart > limit + GRACE_SECONDS:
            yield Hit(
                found=f"rank {late.groups['rank']} entered the group {apart:.0f} s after rank {early.groups['rank']}",
                wanted=f"at most {limit} s apart, or a longer HCCL_CONNECT_TIMEOUT",
                evidence=tuple(Evidence(match.source, match.text[:SHOWN], match.line) for match in (early, late)),
                basis=Basis.LOG,
                position=min(early.ordinal, late.ordinal) + 1,
            )


def _limit(matches: Matches, environment: Environment | None) -> int:
    """The shortest time-out that any rank logs, else the target's variable, else the default. Seconds."""
    told = [int(match.groups["seconds"]) for match in matches["limit"]]
    variable = environment.values.get("HCCL_CONNECT_TIMEOUT", "") if environment else ""
    return min(told) if told else int(variable) if variable.isascii() and variable.isdigit() and len(variable) < 8 else DEFAULT_SECONDS


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text[:10] + " " + text[11:19], "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
