"""What timedatectl said about the clock."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.pools import Clock
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(clock: Clock | None, matches: Matches) -> Iterator[Hit]:
    if clock is None:
        if not matches.looked:
            raise Skip("timedatectl was not asked, and no log was given")
        return
    if not clock.synchronized:
        yield Hit(found="the clock is not synchronised", wanted="NTP", evidence=(Evidence(clock.source, "synchronized: no"),), confidence=Confidence.LIKELY)
