"""KV blocks of a prefill node that are not released, on a release that freed the wrong rank."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

WANTED = "vllm-ascend 0.15.0rc1 or later"


def judge(packages: Packages, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm-ascend", "< 0.15.0rc1")
    option = growth.option(commands, "kv-transfer-config")
    given = "kv_producer" in option or "kv_consumer" in option
    if version is None or not (given or (matches.looked and matches["pd"])):
        return
    said = f"prefill/decode separation on vllm-ascend {version}"
    blocks = tuple(found.match for found in growth.observed(matches) if found.where is growth.Where.KV)
    if blocks:
        confidence = Confidence.LIKELY if matches["ids"] else Confidence.POSSIBLE
        yield growth.hit(blocks, f"{said}, and KV blocks are not released", confidence, Severity.WARN, WANTED, Basis.BOTH)
    elif given:
        yield growth.static(packages, "vllm-ascend", said, WANTED)
