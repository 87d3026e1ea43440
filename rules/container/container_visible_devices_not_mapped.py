"""Decides container-visible-devices-not-mapped: cards were allocated to the container, but CANN was not told which."""

import re
from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.npu import DeviceNodes
from doctor.facts.target import Environment
from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

ALLOCATED, MASK = "ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"
_IDS = regex(r"\d{1,3}(?:,\d{1,3})*", re.ASCII)


def judge(environment: Environment, container: Container | None, nodes: DeviceNodes | None, matches: Matches) -> Iterator[Hit]:
    allocated = environment.values.get(ALLOCATED, "")
    if not _IDS.fullmatch(allocated) or MASK in environment.values or matches["mapped"]:
        return
    ids = sorted({int(number) for number in allocated.split(",")})
    first = ids == list(range(len(ids)))
    told = f"{ALLOCATED}={allocated}, {MASK} is not set"
    lines = matches["timeout"]
    if lines and not first:
        yield Hit(
            found=told,
            wanted=f"{MASK}={','.join(map(str, ids))}",
            evidence=(evidence_of(lines), Evidence(environment.source, told, environment.lines.get(ALLOCATED, 0))),
            basis=Basis.BOTH,
            position=lines[0].ordinal + 1,
            confidence=Confidence.LIKELY,
        )
    elif nodes is not None and container is not None and container.inside and not first and len(nodes.davinci) > len(ids):
        yield Hit(
            found=f"{told}; {len(nodes.davinci)} cards are visible",
            wanted=f"{MASK}={','.join(map(str, ids))}",
            evidence=(Evidence(environment.source, told), Evidence(nodes.source, f"{len(nodes.davinci)} nodes")),
            confidence=Confidence.LIKELY,
        )
