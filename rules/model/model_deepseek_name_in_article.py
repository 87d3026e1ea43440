"""Model names that an article gives and no hub has; a path of that name is the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit
from doctor.regex import regex

_INVENTED = regex(r"(?:deepseek-ai/)?deepseek-[37]b", re.IGNORECASE)


def judge(commands: ServeCommands) -> Iterator[Hit]:
    for command in commands.commands:
        model = command.model or command.flags.get("model") or command.keywords.get("model") or ""
        if _INVENTED.fullmatch(model):
            yield Hit(
                found=f"the model is called {model}",
                wanted="deepseek-ai/deepseek-llm-7b-chat, or the path of a folder",
                evidence=(Evidence(command.source or commands.source or "vllm command", f"model {model}", command.line),),
            )
