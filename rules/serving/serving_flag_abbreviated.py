"""Options that are only the beginning of a name: refused as ambiguous in a log, or completed silently on a command line."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.rulepackage import data_text

SHORTEST = 4


def judge(matches: Matches, commands: ServeCommands | None) -> Iterator[Hit]:
    ambiguous = matches["ambiguous"]
    if ambiguous:
        yield Hit(
            found=ambiguous[0].text[:200],
            evidence=(evidence_of(ambiguous),),
            severity=Severity.FAIL,
            values=dict(ambiguous[0].groups),
            basis=Basis.LOG,
            position=ambiguous[0].ordinal + 1,
        )
    for command in commands.commands if commands else ():
        known = known_flags()
        for name in command.flags:
            whole = [flag for flag in known if flag.startswith(name)]
            if name not in known and len(name) >= SHORTEST and name != "device" and len(whole) == 1:
                yield Hit(
                    subject=f"--{name}",
                    found=f"--{name} is taken for --{whole[0]}",
                    wanted=f"--{whole[0]}",
                    evidence=(Evidence(command.source, f"--{name}", command.line),),
                    confidence=Confidence.LIKELY,
                    values={"bad": f"--{name}", "matches": f"--{whole[0]}"},
                )


@functools.cache
def known_flags() -> frozenset[str]:
    """The long flags of every release in the table."""
    return frozenset(json.loads(data_text("vllm-flags.json"))["flags"])
