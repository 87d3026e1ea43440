"""The bound of the multimodal cache over all processes, and growth on releases whose cache had none."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.machine import Memory
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

UNBOUNDED = ">=0.8.0, <0.9.dev0"
SHARE = 0.25
"""Of the available host memory from which the bound of the cache deserves a note."""
GIB = 2**30


def judge(packages: Packages | None, commands: ServeCommands | None, memory: Memory | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm", UNBOUNDED)
    seen = growth.lines(growth.of_host(growth.observed(matches)))
    if version is not None and seen and matches["multimodal"]:
        yield growth.hit(seen, f"vLLM {version} caches preprocessed images without a bound", Confidence.LIKELY, Severity.WARN, "a bounded cache", Basis.BOTH)
        return
    for command in commands.commands if commands is not None else ():
        size = _number(command.flags.get("mm-processor-cache-gb"))
        processes = (_number(command.flags.get("api-server-count")) or 1) + (_number(command.flags.get("data-parallel-size")) or 1)
        bound = (size or 0) * processes * GIB
        if size and memory is not None and memory.available and bound > SHARE * memory.available:
            yield Hit(
                found=f"--mm-processor-cache-gb {size:g} in {processes:g} processes may take {bound / GIB:.0f} of {memory.available / GIB:.0f} GiB",
                wanted="at most a quarter of the available host memory",
                evidence=(Evidence(command.source or "command", f"--mm-processor-cache-gb {size:g}", command.line),),
                severity=Severity.NOTE,
            )
            return


def _number(value: str | None) -> float | None:
    try:
        return float(value) if value else None
    except ValueError:
        return None
