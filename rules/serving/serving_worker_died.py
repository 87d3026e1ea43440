"""Messages of a dead worker, without those that an orderly stop prints too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.finding import Basis, Hit
from doctor.logscan.scan import Match
from doctor.logscan.signature import Matches, evidence_of


def judge(matches: Matches) -> Iterator[Hit]:
    found = tuple(match for match in matches["dead"] if not after_a_stop(match, matches["stopped"], matches["started"]))
    if found:
        code = next((match.groups["code"] for match in found if "code" in match.groups), None)
        yield Hit(
            found=found[0].text[:200],
            evidence=(evidence_of(found),),
            values={"code": code} if code else {},
            basis=Basis.LOG,
            position=found[0].ordinal + 1,
        )


def after_a_stop(match: Match, stopped: Sequence[Match], started: Sequence[Match]) -> bool:
    """Whether the server had been told to stop before this line, and was not started again in between."""
    stop = max((mark.ordinal for mark in stopped if mark.ordinal <= match.ordinal), default=-1)
    start = max((mark.ordinal for mark in started if mark.ordinal <= match.ordinal), default=-1)
    return stop > start
