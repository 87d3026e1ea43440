"""Compares the super-pod ids that the ranks print: one logical id over different physical ones is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Basis, Evidence, Hit
from doctor.logscan.scan import Match
from doctor.logscan.signature import SHOWN, Matches


def judge(matches: Matches) -> Iterator[Hit]:
    pods: dict[str, dict[str, Match]] = {}
    for match in matches["pod"]:
        pods.setdefault(match.groups["logic"], {}).setdefault(match.groups["physical"], match)
    for logic, physical in pods.items():
        if len(physical) > 1:
            shown = list(physical.values())
            yield Hit(
                subject=logic,
                found=f"logical super-pod {logic} holds the physical super-pods " + ", ".join(sorted(physical)[:8]),
                wanted="one physical super-pod in each logical one",
                evidence=tuple(Evidence(match.source, match.text[:SHOWN], match.line) for match in shown[:4]),
                basis=Basis.LOG,
                position=min(match.ordinal for match in shown) + 1,
            )
