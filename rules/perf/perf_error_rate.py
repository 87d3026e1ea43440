"""Decides perf-error-rate: the share of requests that failed or were aborted, in metrics that were pasted."""

from collections.abc import Iterator

from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches, evidence_of

LEAST = 20
"""Requests, below which a share says nothing."""

ABORTED, FAILED = 0.10, 0.05
"""Shares from which it is told; both are the defaults of another monitoring tool."""


def judge(matches: Matches) -> Iterator[Hit]:
    lines = matches["finished"]
    totals: dict[str, int] = {}
    for match in lines:
        reason = match.groups["reason"]
        totals[reason] = totals.get(reason, 0) + int(match.groups["number"])
    total = sum(totals.values())
    aborted, failed = totals.get("abort", 0), totals.get("error", 0)
    if total >= LEAST and (aborted >= ABORTED * total or failed >= FAILED * total):
        yield Hit(
            found=f"of {total} requests {aborted} were aborted and {failed} failed",
            wanted="fewer than 10 % aborted and 5 % failed",
            evidence=(evidence_of(lines),),
            confidence=Confidence.POSSIBLE,
            basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )
