"""Several `npu-smi info` headers in one report that tells of several nodes: do they show one driver?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches
from doctor.versions import Scheme, compare


def judge(matches: Matches) -> Iterator[Hit]:
    told = {match.groups["version"].lower(): match for match in matches["told"] if match.groups.get("version")}
    if len(told) < 2 or not matches["nodes"]:
        if not told:
            raise Skip("the text shows no driver versions of several nodes")
        return
    (first, one), (second, other), *_ = told.items()
    if compare(first, second, Scheme.HDK) in (0, None):
        return
    yield Hit(
        found="drivers " + ", ".join(told),
        wanted="one driver version on all nodes",
        evidence=tuple(Evidence(match.source, match.text, match.line) for match in (one, other)),
        confidence=Confidence.LIKELY if matches["by_node"] else Confidence.POSSIBLE,
        basis=Basis.LOG,
        position=one.ordinal + 1,
    )
