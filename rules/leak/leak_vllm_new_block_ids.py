"""Growth of the engine core on releases that keep a number for each allocated KV block."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth

CONFIRMED, SUSPECT = "== 0.22.*", ">=0.17.0, <0.24.dev0"
"""0.22.0 was read and is affected; the first release with the repair is not known, nor the last before the defect."""


def judge(packages: Packages, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm", SUSPECT)
    told = growth.of_host(growth.told(matches))
    seen = growth.lines(told) if matches["named"] else tuple(said.match for said in told if said.who is growth.Who.ENGINE)
    if version is not None and seen:
        confidence = Confidence.LIKELY if growth.release(packages, "vllm", CONFIRMED) else Confidence.POSSIBLE
        yield growth.hit(seen, f"vLLM {version}, and its engine core grows", confidence, None, "a vLLM with PR 44490", Basis.BOTH)
