"""Growth with the V2 model runner of vLLM 0.25.1 to 0.27.0."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

AFFECTED = ">=0.25.1, <0.27.1.dev0"


def judge(packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    told = packages.versions.get("vllm") if packages is not None else None
    version = growth.release(packages, "vllm", AFFECTED)
    seen = growth.lines(growth.of_host(growth.told(matches)))
    if (version is not None or told is None) and seen and matches["runner"] and not matches["not_used"]:
        said = f"vLLM {version or '(release not told)'} with the V2 model runner, and host memory grows"
        yield growth.hit(seen, said, Confidence.POSSIBLE, Severity.WARN, "the V1 runner", Basis.BOTH if version else Basis.LOG)
