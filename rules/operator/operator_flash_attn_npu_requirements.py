"""FA3 of flash-attn-npu, asked for, against what it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.cann import Cann
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches
from doctor.regex import regex
from doctor.versions import Scheme, compare

_ASKED = regex(r"enable_training_consistency[\"']?\s{0,4}:\s{0,4}true", re.IGNORECASE)
CANN_LEAST = "8.5.0"


def judge(commands: ServeCommands | None, packages: Packages | None, chip: Chip | None, cann: Cann | None, matches: Matches) -> Iterator[Hit]:
    if commands is None or packages is None or not packages.complete:
        if not matches.looked:
            raise Skip("the commands, or the packages of the target, are not known")
        return
    for command in commands.commands:
        if not _ASKED.search(command.flags.get("additional-config", command.keywords.get("additional_config", ""))):
            continue
        found, severity = _lacks(command, packages, chip, cann)
        if found:
            evidence = Evidence(command.source, "enable_training_consistency", command.line)
            wanted = "flash-attn-npu on A2 or A3, CANN 8.5.0 or newer, PIECEWISE"
            yield Hit(found=found, wanted=wanted, evidence=(evidence,), confidence=Confidence.LIKELY, severity=severity)
            return


def _lacks(command: ServeCommand, packages: Packages, chip: Chip | None, cann: Cann | None) -> tuple[str, Severity | None]:
    if "flash-attn-npu" not in packages.versions:
        return "flash-attn-npu is not installed", None
    if chip is not None and chip.family not in ("a2", "a3"):
        return f"the chip is {chip.name}", None
    if cann is not None and cann.version and compare(cann.version, CANN_LEAST, Scheme.CANN) == -1:
        return f"CANN is {cann.version}", None
    if "PIECEWISE" not in command.flags.get("compilation-config", ""):
        return "cudagraph_mode is not PIECEWISE", Severity.WARN
    return "", None
