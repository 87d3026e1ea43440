"""Decides perf-batch-above-graph-sizes: the largest batch that a serving command allows, against the largest captured graph."""

import json
from collections.abc import Iterator, Mapping

from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit

CAP = 512
"""Tokens of the largest graph that vLLM captures by itself."""

MOST_SEQS = 256
"""--max-num-seqs where it is not given; larger on some machines, so only a value that was given counts."""


def judge(commands: ServeCommands) -> Iterator[Hit]:
    for command in commands.commands:
        seqs = command.flags.get("max-num-seqs", "")
        if not (seqs.isascii() and seqs.isdecimal() and len(seqs) < 7) or "enforce-eager" in command.flags:
            continue
        each = 1 + _speculative(command.flags)
        largest = _largest(_object(command.flags.get("compilation-config", "")))
        batch = int(seqs) * each
        if batch > largest:
            told = f"--max-num-seqs {seqs}" + (f" x {each} tokens" if each > 1 else "") + f" = {batch}, largest graph {largest}"
            yield Hit(
                subject=command.model or "",
                found=told,
                wanted=f"{largest} or less",
                evidence=(Evidence(command.source, told, command.line),),
                confidence=Confidence.LIKELY,
            )


def _object(text: str) -> Mapping[str, object]:
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _speculative(flags: Mapping[str, str]) -> int:
    number = _object(flags.get("speculative-config", "")).get("num_speculative_tokens", 0)
    return number if isinstance(number, int) and 0 <= number < 100 else 0


def _largest(config: Mapping[str, object]) -> int:
    most = config.get("max_cudagraph_capture_size")
    if isinstance(most, int) and most > 0:
        return most
    sizes = config.get("cudagraph_capture_sizes")
    numbers = [size for size in sizes if isinstance(size, int)] if isinstance(sizes, list) else []
    return max(numbers, default=CAP)
