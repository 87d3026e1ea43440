"""Options in JSON whose value does not parse: refused in a log, or on a command line with one of the usual slips."""

from __future__ import annotations

import json
from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

OPTIONS = frozenset(
    {
        "additional-config", "compilation-config", "speculative-config", "kv-transfer-config", "hf-overrides", "eplb-config",
        "kv-events-config", "ec-transfer-config", "structured-outputs-config", "attention-config", "model-loader-extra-config",
        "mm-processor-kwargs", "limit-mm-per-prompt", "rope-scaling", "override-generation-config", "default-chat-template-kwargs",
    }
)  # fmt: skip
NEAR = 40
"""Lines between the JSON error and the parser's frames: one traceback."""

_FILLED_IN_LATER = regex(r"\$[\w{(]|\.\.\.|…|<[\w -]+>")
"""A variable, an ellipsis or a placeholder: what the shell gives to vLLM is not known."""

_SLIPS = regex(r"'|[“”‘’]|:\s*(?:True|False|None)\b|,\s*[}\]]|\{\s*[A-Za-z_]\w*\s*:")


def judge(matches: Matches, commands: ServeCommands | None) -> Iterator[Hit]:
    refused = matches["refused"]
    parser = matches["parser"]
    if not refused:
        refused = tuple(m for m in matches["broken"] if any(abs(m.ordinal - p.ordinal) <= NEAR for p in parser))
    if refused:
        flag = refused[0].groups.get("flag") or next((f"--{p.groups['flag']}" for p in parser if "flag" in p.groups), "the option")
        yield Hit(
            found=refused[0].text[:200],
            evidence=(evidence_of(refused),),
            values={"flag": flag},
            basis=Basis.LOG,
            position=refused[0].ordinal + 1,
        )
        return
    for command in commands.commands if commands and not matches["accepted"] else ():
        for name, value in command.flags.items():
            if command.argv and name in OPTIONS and value.startswith("{") and not _FILLED_IN_LATER.search(value) and _broken(value):
                yield Hit(
                    subject=f"--{name}",
                    found=f"--{name} {value[:120]}",
                    wanted="JSON with double quotes inside",
                    evidence=(Evidence(command.source, f"--{name} {value[:200]}", command.line),),
                    confidence=Confidence.LIKELY,
                    values={"flag": f"--{name}"},
                )


def _broken(value: str) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return bool(_SLIPS.search(value))
    return False
