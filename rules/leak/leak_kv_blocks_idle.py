"""KV blocks that stay in use while no request runs or waits, over at least a minute of log lines."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Hit, Skip
from doctor.logscan.scan import Match
from doctor.logscan.signature import Matches

from . import growth

USED = 5.0
"""Percent; cached prefixes are not counted as used."""
LINES = 6
"""In a row; vLLM prints one every ten seconds."""


def judge(commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    if not matches.looked:
        raise Skip("no log was given")
    run: list[Match] = []
    for match in matches["idle"]:
        run = [*run, match] if float(match.groups["usage"]) > USED else []
        if len(run) >= LINES:
            waits = bool(matches["pd"]) or bool(growth.option(commands, "kv-transfer-config"))  # a prefill node may wait for its peer
            said = f"{match.groups['usage']} % of the KV cache in use although nothing runs"
            yield growth.hit(tuple(run), said, Confidence.POSSIBLE if waits else Confidence.LIKELY, None, "at most 1 % when idle")
            return
