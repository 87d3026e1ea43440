"""An edgecore that is installed but that no process runs."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.neighbours import EdgeServices
from doctor.finding import Confidence, Evidence, Hit
from doctor.logscan.signature import Matches


def judge(edge: EdgeServices | None, matches: Matches) -> Iterator[Hit]:
    """`matches` makes a text without these facts count as looked at: the log lines of the cause file decide there."""
    if edge is not None and edge.edgecore_unit and not edge.edgecore:
        evidence = (Evidence(edge.edgecore_unit, "present"), Evidence(edge.source, "no process edgecore"))
        yield Hit(found="edgecore is installed and does not run", wanted="edgecore runs, or is removed", evidence=evidence, confidence=Confidence.LIKELY)
