"""Blocks that memcheck calls definitely lost, though the interpreter, the loader or start-up code owns them: no leak."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.memcheck import Memcheck
from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.signature import Matches


def judge(memcheck: Memcheck | None, matches: Matches) -> Iterator[Hit]:
    seen = matches["record"]
    lost = memcheck.lost if memcheck is not None else ()
    if lost and all(item.by_design for item in lost):
        total = sum(item.bytes for item in lost)
        evidence = tuple(Evidence(item.source, f"{item.bytes:,} bytes in {item.blocks:,} blocks, {item.where}", item.line) for item in lost[:3])
        found = f"all {total:,} bytes that are definitely lost belong to the interpreter or the loader: {lost[0].where}"
        yield Hit(found=found, evidence=evidence, confidence=Confidence.SURE, basis=Basis.BOTH, position=seen[0].ordinal + 1 if seen else 1)
