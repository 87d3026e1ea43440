"""Keys of --additional-config that vllm-ascend refuses, or that are almost a key that it reads."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.rulepackage import data_text

from ._additional_config import keys_of


@functools.cache
def known_names() -> tuple[str, ...]:
    """Top-level keys of all releases of vllm-ascend, as of 2026-08-22."""
    return tuple(line for line in data_text("additional_config_keys.txt").split("\n") if line and not line.startswith("#"))


ALIKE, NEARLY_EQUAL = 0.75, 0.92
"""Ratios of difflib: worth suggesting for a key that was refused; taken for a slip in one that nobody refused."""


def judge(matches: Matches, commands: ServeCommands | None) -> Iterator[Hit]:
    refused = matches["refused"]
    if refused:
        key = refused[0].groups.get("key", "")
        nearest = difflib.get_close_matches(key, known_names(), 1, ALIKE)
        yield Hit(
            found=refused[0].text[:200],
            evidence=(evidence_of(refused),),
            severity=Severity.FAIL,
            values={"key": key, "suggestion": nearest[0] if nearest else "-"},
            basis=Basis.LOG,
            position=refused[0].ordinal + 1,
        )
        return
    for command in commands.commands if commands else ():
        for key in keys_of(command):
            nearest = [] if key in known_names() else difflib.get_close_matches(key, known_names(), 1, NEARLY_EQUAL)
            if nearest:
                yield Hit(
                    subject=key,
                    found=f"{key} in --additional-config",
                    wanted=nearest[0],
                    evidence=(Evidence(command.source, f"--additional-config … {key}", command.line),),
                    confidence=Confidence.POSSIBLE,
                    values={"key": key, "suggestion": nearest[0]},
                )
