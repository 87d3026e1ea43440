"""An option that vLLM refuses, or that is spelt almost like a known one, with the nearest known name."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterator

from doctor.facts.target import Target
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.rulepackage import data_text

ALIKE = 0.75
"""Ratio of difflib from which a name is worth suggesting for an option that was refused."""

NEARLY_EQUAL = 0.93
"""Ratio from which an option that nobody has refused yet is taken for a slip: one or two characters of a long name."""

SHORTEST = 9
"""Shorter names differ in too few characters to tell a slip from another option."""


@functools.cache
def known_flags() -> frozenset[str]:
    """The long flags of every release in the table."""
    return frozenset(json.loads(data_text("vllm-flags.json"))["flags"])


def nearest(name: str, alike: float) -> str | None:
    found = difflib.get_close_matches(name, known_flags(), 1, alike)
    return found[0] if found else None


OTHERS = frozenset({"ascend-opt", "prefetch-batch", "batch-size", "max-batch-size", "device", "npu-memory-fraction", "flash-attention", "dynamic-batching", "worker-use-ray", "omni"})
"""Flags of old articles that have causes of their own, and those of other programs' servers and of releases before the table."""


def judge(matches: Matches, commands: ServeCommands | None, target: Target | None) -> Iterator[Hit]:
    refused, told = matches["refused"], Confidence.SURE
    if not refused and matches["vllm"]:
        refused, told = matches["elsewhere"], Confidence.LIKELY
    if not refused and matches["spoken"]:
        spoken = matches["spoken"]
        said = (evidence_of(spoken),)
        values = {"bad": "…", "suggestion": "-"}
        yield Hit(
            found=spoken[0].text[:200], evidence=said, confidence=Confidence.POSSIBLE, values=values, basis=Basis.LOG, position=spoken[0].ordinal + 1
        )
        return
    if refused:
        bad = refused[0].groups.get("bad", "")
        suggestion = nearest(bad.lstrip("-").replace("_", "-").partition(".")[0], ALIKE)
        yield Hit(
            found=refused[0].text[:200],
            evidence=(evidence_of(refused),),
            confidence=told,
            values={"bad": bad, "suggestion": f"--{suggestion}" if suggestion else "-"},
            basis=Basis.LOG,
            position=refused[0].ordinal + 1,
        )
        return
    for name, suggestion, evidence in () if matches["accepted"] else slips(commands):
        yield Hit(
            found=f"--{name} on the command line",
            wanted=f"--{suggestion}",
            evidence=(evidence,),
            confidence=Confidence.POSSIBLE,
            severity=Severity.WARN,
            values={"bad": f"--{name}", "suggestion": f"--{suggestion}"},
        )
        return
    for name, evidence in strangers(commands) if target is not None and not matches["accepted"] else ():
        suggestion = nearest(name, ALIKE) or ""
        yield Hit(
            found=f"--{name} on the command line",
            wanted="an option of vLLM",
            evidence=(evidence,),
            confidence=Confidence.LIKELY,
            severity=Severity.WARN,  # a newer vLLM than the table may have it
            values={"bad": f"--{name}", "suggestion": f"--{suggestion}" if suggestion else "-"},
        )
        return


def slips(commands: ServeCommands | None) -> Iterator[tuple[str, str, Evidence]]:
    """(flag as given, known flag, where) for flags spelt almost like a known one that they do not abbreviate."""
    for command in commands.commands if commands else ():
        for name in command.flags:
            base = name.partition(".")[0].removeprefix("no-")
            if len(base) < SHORTEST or base in known_flags() or any(known.startswith(base) for known in known_flags()):
                continue
            known = nearest(base, NEARLY_EQUAL)
            if known:
                yield name, known, Evidence(command.source, f"--{name}", command.line)


def strangers(commands: ServeCommands | None) -> Iterator[tuple[str, Evidence]]:
    """(flag, where) of flags that no release has, of commands that run or that stand in a start file."""
    for command in commands.commands if commands else ():
        for name in command.flags:
            base = name.partition(".")[0].removeprefix("no-")
            if len(base) > 1 and base not in OTHERS and not any(known.startswith(base) for known in known_flags()):
                yield base, Evidence(command.source, f"--{base}", command.line)
