"""Looks for statistic lines in a row that show running requests and no token at all."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.scan import Match
from doctor.logscan.signature import SHOWN, Matches

IN_A_ROW = 3
"""Statistic lines, 10 s apart: a long prefill shows one or two."""


def judge(matches: Matches) -> Iterator[Hit]:
    if matches["producer"] and not matches["consumer"]:
        return  # a prefill node hands its requests on
    end = min((match.ordinal for match in matches["stopped"]), default=None)
    stalled = [match for match in matches["stalled"] if end is None or match.ordinal < end]
    for engine in dict.fromkeys(_engine(match) for match in stalled):
        mine = [match for match in stalled if _engine(match) == engine]
        moving = sorted(match.ordinal for match in matches["moving"] if _engine(match) == engine)
        run = _longest(mine, moving)
        if len(run) < IN_A_ROW and matches["told"]:
            run = [match for match in mine if not moving or match.ordinal > moving[-1]]  # a report that tells of a hang quotes its end
        elif len(run) < IN_A_ROW:
            continue
        if run:
            yield _hit(run)
            return


def _engine(match: Match) -> str:
    return match.groups.get("engine", "")


def _hit(run: list[Match]) -> Hit:
    first, last = run[0], run[-1]
    return Hit(
        found=f"{first.groups['running']} running, and no token in {len(run)} statistic lines in a row",
        wanted="a generation throughput above 0",
        evidence=(Evidence(first.source, first.text[:SHOWN], first.line, first.line, last.line, len(run)),),
        confidence=Confidence.LIKELY,
        basis=Basis.LOG,
        position=first.ordinal + 1,
    )


def _longest(stalled: list[Match], moving: list[int]) -> list[Match]:
    """The longest run of stalled lines without a moving one between them."""
    best: list[Match] = []
    run: list[Match] = []
    at = 0
    for match in stalled:
        before = at
        while at < len(moving) and moving[at] < match.ordinal:
            at += 1
        run = [*run, match] if at == before else [match]
        best = run if len(run) > len(best) else best
    return best
