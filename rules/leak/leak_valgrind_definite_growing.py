"""Names the code whose blocks memcheck found definitely lost; those of the interpreter, the loader and start-up code are no leak."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.memcheck import Memcheck
from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of

NAMED = 3
"""Places that are named."""


def judge(memcheck: Memcheck | None, matches: Matches) -> Iterator[Hit]:
    seen = matches["record"]
    if memcheck is None:
        if seen:
            yield Hit(found=seen[0].text[:300], evidence=(evidence_of(seen),), confidence=Confidence.LIKELY, basis=Basis.LOG, position=seen[0].ordinal + 1)
        return
    lost = [item for item in memcheck.lost if not item.by_design]
    if not lost:
        return
    places = "; ".join(f"{item.bytes:,} bytes in {item.blocks:,} blocks by {item.where}" for item in lost[:NAMED])
    more = f"; {len(lost) - NAMED} more places" if len(lost) > NAMED else ""
    evidence = tuple(Evidence(item.source, f"{item.bytes:,} bytes in {item.blocks:,} blocks, {item.where}", item.line) for item in lost[:NAMED])
    yield Hit(found=places + more, evidence=evidence, confidence=Confidence.LIKELY, basis=Basis.BOTH, position=seen[0].ordinal + 1 if seen else 1)
