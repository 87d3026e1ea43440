"""The report says that a gateway or proxy grows, and nothing of vLLM."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    told = growth.told(matches)
    gateways = tuple(said.match for said in told if said.who is growth.Who.GATEWAY)
    if gateways and not any(said.who in (growth.Who.WORKER, growth.Who.ENGINE, growth.Who.API) for said in told):
        yield growth.hit(gateways, "the process that grows is a gateway or proxy", Confidence.LIKELY)
