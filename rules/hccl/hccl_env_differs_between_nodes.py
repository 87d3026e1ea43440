"""Compares the values that HCCL logs for its variables, over all ranks that the logs show."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Basis, Evidence, Hit
from doctor.logscan.scan import Match
from doctor.logscan.signature import SHOWN, Matches


def judge(matches: Matches) -> Iterator[Hit]:
    seen: dict[str, dict[str, Match]] = {}
    for match in matches["setting"]:
        seen.setdefault(match.groups["name"], {}).setdefault(match.groups["value"], match)
    for name, values in seen.items():
        if len(values) > 1:
            shown = list(values.values())
            yield Hit(
                subject=name,
                found=f"{name} is " + " and ".join(sorted(values)[:4]),
                wanted="one value on all ranks",
                evidence=tuple(Evidence(match.source, match.text[:SHOWN], match.line) for match in shown[:4]),
                basis=Basis.LOG,
                position=min(match.ordinal for match in shown) + 1,
            )
