"""Host memory that grows with the NIXL connector and an unbounded registration cache."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth


def judge(commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    seen = growth.lines(growth.of_host(growth.told(matches)))
    nixl = "Nixl" in growth.option(commands, "kv-transfer-config") or bool(matches["nixl"])
    if seen and nixl and not matches["bounded"]:
        yield growth.hit(seen, "host memory grows with the NIXL connector", Confidence.LIKELY, Severity.WARN, "UCX_RCACHE_MAX_UNRELEASED=1024")
