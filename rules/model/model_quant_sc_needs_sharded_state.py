"""W8A8SC weights (by the name of their folder or by their description) that are served without `--load-format sharded_state`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit
from doctor.regex import regex

_COMPRESSED = regex(r"w8a8sc", re.IGNORECASE)


def judge(commands: ServeCommands, models: Models | None) -> Iterator[Hit]:
    described = {model.path for model in (models.models if models else ()) if model.folder.description and "W8A8SC" in model.folder.description.types}
    for command in commands.commands:
        model = command.model or command.flags.get("model") or command.keywords.get("model") or ""
        loaded = command.flags.get("load-format") or command.keywords.get("load_format") or "auto"
        if (_COMPRESSED.search(model) or model.rstrip("/") in described) and loaded != "sharded_state":
            yield Hit(
                found=f"{model} is loaded with the format {loaded}",
                wanted="--load-format sharded_state",
                evidence=(Evidence(command.source or commands.source or "vllm command", f"model {model}, load format {loaded}", command.line),),
                confidence=Confidence.LIKELY,
            )
