"""Whether a start command turns chunked prefill off and allows fewer tokens a step than a prompt may have."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.number import whole
from doctor.facts.serve_text import ServeCommand
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    if commands is None:
        if not matches.looked:
            raise Skip("no vLLM command is known")
        return
    for command in commands.commands:
        tokens, length = _number(command, "max-num-batched-tokens"), _number(command, "max-model-len")
        if _unchunked(command) and tokens is not None and length is not None and tokens < length:
            yield Hit(
                found=f"chunked prefill is off, and {tokens} tokens a step are fewer than the length of {length}",
                wanted=f"{length} or more",
                evidence=(Evidence(command.source, f"--max-num-batched-tokens {tokens} --max-model-len {length}", command.line),),
                confidence=Confidence.LIKELY,
                values={"tokens": str(tokens), "max_model_len": str(length)},
            )
            return


def _unchunked(command: ServeCommand) -> bool:
    given = (command.flags.get("enable-chunked-prefill"), command.keywords.get("enable_chunked_prefill"))
    return "no-enable-chunked-prefill" in command.flags or any(value in ("false", "False") for value in given)


def _number(command: ServeCommand, flag: str) -> int | None:
    return whole(command.flags.get(flag, command.keywords.get(flag.replace("-", "_"), "")))
