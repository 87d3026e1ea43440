"""Growth of the engine core or API server on releases with far fewer garbage collections."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth

AFFECTED = ">=0.11.1, <0.16.dev0"


def judge(packages: Packages, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm", AFFECTED)
    seen = tuple(said.match for said in growth.of_host(growth.told(matches)) if said.who in (growth.Who.ENGINE, growth.Who.API))
    if version is not None and seen:
        yield growth.hit(seen, f"vLLM {version}, and its engine core or API server grows", Confidence.POSSIBLE, None, "a vLLM after 0.15", Basis.BOTH)
