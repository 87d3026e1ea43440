"""What a pattern costs at worst: the time it takes on lines of the longest kind that keep it busy.

Contract: measures on this machine, now; the numbers compare patterns with each other and mean nothing else.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

from doctor.logscan.literals import EVERYWHERE

LINE = 16 * 1024
"""Characters of a line: as many as a pattern ever sees at once."""


def worst(pattern: str, literals: Iterable[str]) -> float:
    """Seconds for the slowest of: healthy lines, and the pattern's literals over and over with what gaps and classes like to swallow."""
    compiled = re.compile(pattern, re.ASCII)
    fillings = (" ", "a b 0 ")
    lines = [_filled(EVERYWHERE), *(_filled(f"{literal}{filling}") for literal in sorted(literals)[:2] for filling in fillings)]
    return max(_seconds(compiled, line) for line in lines)


def _filled(part: str) -> str:
    return (part * (LINE // len(part) + 1))[:LINE]


def _seconds(compiled: re.Pattern[str], line: str) -> float:
    start = time.thread_time()
    compiled.search(line)
    return time.thread_time() - start
