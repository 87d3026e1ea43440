"""Tracked connections against the most that the kernel keeps."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.pools import Counters
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

NEARLY = 0.95


def judge(counters: Counters | None, matches: Matches) -> Iterator[Hit]:
    if counters is None or counters.connections is None or not counters.connections_max:
        if not matches.looked:
            raise Skip("connections are not counted, and no log was given")
        return
    if counters.connections >= NEARLY * counters.connections_max:
        found = f"{counters.connections} of {counters.connections_max} connections"
        evidence = Evidence("/proc/sys/net/netfilter/nf_conntrack_count", found)
        yield Hit(found=found, wanted="below 95 %", evidence=(evidence,), confidence=Confidence.LIKELY)
