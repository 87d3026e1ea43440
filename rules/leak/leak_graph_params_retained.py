"""NPU memory that grows in full-graph mode on a release that kept graph tensors alive."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

WANTED = "vllm-ascend 0.11.0rc1 or later"


def judge(packages: Packages, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm-ascend", "< 0.11.0rc1")
    full = "FULL" in growth.option(commands, "compilation-config") or (matches.looked and bool(matches["full"]))
    if version is None or not full:
        return
    said = f"full-graph mode on vllm-ascend {version}"
    seen = growth.lines(growth.of_device(growth.observed(matches)))
    if seen:
        yield growth.hit(seen, f"{said}, and NPU memory grows", Confidence.SURE, Severity.WARN, WANTED, Basis.BOTH)
    else:
        yield growth.static(packages, "vllm-ascend", said, WANTED)
