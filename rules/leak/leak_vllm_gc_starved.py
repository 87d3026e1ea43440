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
    told = growth.of_host(growth.told(matches))
    about = bool(matches["garbage"])  # what leaves much garbage behind, or the collector itself
    seen = tuple(said.match for said in told if said.who in (growth.Who.ENGINE, growth.Who.API) or (about and said.who is growth.Who.UNTOLD))
    if version is not None and seen:
        yield growth.hit(seen, f"vLLM {version}, and its host memory grows", Confidence.POSSIBLE, None, "a vLLM after 0.15", Basis.BOTH)
