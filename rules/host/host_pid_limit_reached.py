"""Processes of the control group against its limit."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.pools import Counters
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

NEARLY = 0.95


def judge(counters: Counters | None, matches: Matches) -> Iterator[Hit]:
    if counters is None or counters.pids is None or not counters.pids_max:
        if not matches.looked:
            raise Skip("the processes of the control group are not counted, and no log was given")
        return
    if counters.pids >= NEARLY * counters.pids_max:
        found = f"{counters.pids} of {counters.pids_max} processes and threads"
        yield Hit(found=found, wanted="below 95 %", evidence=(Evidence(counters.source, found),), confidence=Confidence.LIKELY)
