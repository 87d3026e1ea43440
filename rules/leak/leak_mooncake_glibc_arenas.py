"""The report says that a Mooncake process grows."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    told = tuple(said for said in growth.told(matches) if said.where is not growth.Where.DEVICE)
    about = bool(matches["store"]) and bool(matches["arenas"])
    seen = tuple(said.match for said in told if said.who is growth.Who.MOONCAKE or (about and said.who is growth.Who.UNTOLD)) or matches["ended"]
    if seen:
        confidence = Confidence.POSSIBLE if matches["jemalloc"] and not about else Confidence.LIKELY
        yield growth.hit(seen, "a Mooncake process grows", confidence, None, "resident memory near the size of the segment")
