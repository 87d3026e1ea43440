"""Several answers for each request on a vLLM that never frees their groups."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

AFFECTED = ">=0.7.0, <0.8.dev0"
WANTED = "vllm-ascend 0.7.3, or vLLM 0.8 or later"


def judge(packages: Packages, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm", AFFECTED)
    fixed = growth.release(packages, "vllm-ascend", ">=0.7.3") is not None  # carries the repair itself
    seen = growth.lines(growth.of_host(growth.told(matches))) or matches["killed"]
    if version is None or fixed or not matches["many"]:
        return
    said = f"vLLM {version} with several answers for each request"
    if seen:
        yield growth.hit(seen, f"{said}, and host memory grows or ran out", Confidence.SURE, Severity.FAIL, WANTED, Basis.BOTH)
    else:
        yield growth.hit(matches["many"], said, Confidence.LIKELY, Severity.NOTE, WANTED, Basis.BOTH)
