"""The report says that the API server keeps growing in host memory."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    seen = tuple(said.match for said in growth.of_host(growth.told(matches)) if said.who is growth.Who.API)
    if seen:
        yield growth.hit(seen, "the API server keeps growing in host memory", Confidence.LIKELY, None, "flat memory at equal load")
