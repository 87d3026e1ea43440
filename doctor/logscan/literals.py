"""Which literal texts a pattern needs: the fast path looks for these before it tries the pattern.

`required(pattern)` gives a set of which every match contains at least one. It also refuses what could take more than linear time.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

_INSIDE = ("re._parser", "re._constants") if sys.version_info >= (3, 11) else ("sre_parse", "sre_constants")
# The standard library's own parser of regular expressions: not public, but there in every version and unchanged in what is used here.
_parser, codes = map(importlib.import_module, _INSIDE)

SHORTEST = 4
"""Bytes of UTF-8; a shorter literal stands in too many lines to be a fast path. A Chinese word of two characters has six and is rare enough."""

_IGNORES_CASE = re.compile(r"(?<!\\)\(\?[aLmsux]*i[aLmsux]*[-):]")

LONGEST_REPEAT = 3000
"""Characters that one part of a pattern may span: with it a search on a line of the longest kind stays far below a second."""

LONGEST_NESTED = 5000
"""Characters that a repeated part of repeated parts may span."""

EVERYWHERE = (
    '(APIServer pid=1) INFO 11-30 09:38:38 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, '
    "Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0% SpecDecoding metrics: Mean acceptance length: "
    'INFO: 127.0.0.1:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK "GET /v1/models HTTP/1.1" "GET /health HTTP/1.1" "GET /metrics HTTP/1.1" '
    "Received request cmpl-1: prompt: params: SamplingParams(n=1, temperature=0.0, max_tokens=16) Added request chatcmpl-1 engine launcher.py api_server.py "
    "[INFO] RUNTIME(775,python3):2025-11-30-09:38:38.000001 [stream.cc:71] [api_c.cc:117] stream synchronize start, device thread task event model memory "
    "[INFO] HCCL [INFO] ASCENDCL [INFO] TDT [INFO] GE [INFO] DRV [EVENT] PROFILING session graph kernel driver load stop torch vllm core server node"
).lower()
"""What a healthy server prints with every request (vLLM 0.8 to 0.32), and its plog all the time: no fast path if there is another literal."""


def everywhere(literal: str) -> bool:
    """Whether it stands in the lines that a healthy server prints all the time."""
    return literal.lower() in EVERYWHERE

_MOST = 64
"""Literals of one pattern at the most: an alternation of more is two patterns."""


def parse(pattern: str) -> Any:
    """The pattern's parts, as the standard library's compiler sees them. Raises `re.error`."""
    return _parser.parse(pattern)


def required(pattern: str) -> frozenset[str]:
    """The literals; lower case where the pattern ignores case. Raises ValueError with the reason if the pattern is not allowed."""
    try:
        parsed = parse(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"not a regular expression: {problem}") from None
    _refuse_slow(parsed, pattern)
    found = _best(parsed)
    if found is None or any(len(literal.encode()) < SHORTEST for literal in found):
        raise ValueError(f"needs a literal of {SHORTEST} or more letters (two in Chinese) in every alternative: {pattern!r}")
    if len(found) > _MOST:
        raise ValueError(f"has {len(found)} alternatives; split it: {pattern!r}")
    return frozenset(literal.lower() for literal in found) if ignores_case(pattern) else frozenset(found)


def ignores_case(pattern: str) -> bool:
    """Whether any part of it ignores case: its literals are then looked for in lower case, which finds at least as much."""
    return _IGNORES_CASE.search(pattern) is not None


def _refuse_slow(sequence: Any, pattern: str, within: int = 1) -> None:
    """`within`: how often the sequence may be repeated by what stands around it."""
    for code, argument in sequence:
        if code in (codes.GROUPREF, codes.GROUPREF_EXISTS):
            raise ValueError(f"back-references are not allowed: they take more than linear time: {pattern!r}")
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            _, most, inner = argument
            if most is codes.MAXREPEAT or most > LONGEST_REPEAT:
                raise ValueError(f"unbounded quantifiers are not allowed ({{1,200}} instead of +): on a hostile line they take too long: {pattern!r}")
            if within * most > LONGEST_NESTED and within > 1:
                raise ValueError(f"nested quantifiers are not allowed: they take more than linear time: {pattern!r}")
            _refuse_slow(inner, pattern, within=within * max(most, 1))
        elif code is codes.SUBPATTERN:
            _refuse_slow(argument[-1], pattern, within=within)
        elif code is codes.BRANCH:
            for branch in argument[1]:
                _refuse_slow(branch, pattern, within=within)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            _refuse_slow(argument[1], pattern, within=within)


def _best(sequence: Any) -> set[str] | None:
    """The best literal set of a sequence: the one whose weakest literal is strongest."""
    candidates: list[set[str]] = []
    run: list[str] = []

    def close() -> None:
        if run:
            candidates.append({"".join(run)})
            run.clear()

    for code, argument in sequence:
        if code is codes.LITERAL:
            run.append(chr(argument))
            continue
        if code is codes.AT:
            continue
        close()
        inner = None
        if code is codes.SUBPATTERN:
            inner = _best(argument[-1])
        elif code is codes.BRANCH:
            inner = _branches(argument[1])
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] >= 1:
            inner = _best(argument[2])
        if inner:
            candidates.append(inner)
    close()
    return max(candidates, key=lambda literals: (min(map(_strength, literals)), -len(literals)), default=None)


def _strength(literal: str) -> int:
    """Its length in bytes, doubled; what stands in every line of a healthy log is weaker than the shortest that is allowed."""
    size = len(literal.encode("utf-8", "replace"))
    return 2 * size if size < SHORTEST or not everywhere(literal) else 2 * SHORTEST - 1


def _branches(branches: Any) -> set[str] | None:
    found: set[str] = set()
    for branch in branches:
        inner = _best(branch)
        if inner is None:
            return None
        found |= inner
    return found
