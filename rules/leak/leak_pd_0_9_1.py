"""Growth with prefill/decode separation or TorchAir on the 0.9.1 line."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

AFFECTED = ">=0.9.1.dev0, <0.9.2.dev0"
WANTED = "a maintained line"


def judge(packages: Packages, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm-ascend", AFFECTED)
    if version is None:
        return
    given = bool(growth.option(commands, "kv-transfer-config"))
    said = f"vllm-ascend {version}"
    seen = growth.lines(growth.observed(matches))
    if seen and (given or matches["pd"]):
        yield growth.hit(seen, f"{said} with prefill/decode separation or long mixed runs, and memory grows", Confidence.SURE, Severity.WARN, WANTED, Basis.BOTH)
    elif given:
        yield growth.static(packages, "vllm-ascend", f"{said} with prefill/decode separation", WANTED)
