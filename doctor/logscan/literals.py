"""Which literal texts a pattern needs: the fast path looks for these before it tries the pattern.

`required(pattern)` gives a set of which every match contains at least one. It also refuses what could take more than linear time.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
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

HEALTHY = (
    "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%",
    'INFO: 127.0.0.1:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    '"GET /v1/models HTTP/1.1" 200 OK',
    '"GET /health HTTP/1.1" 200 OK',
    '"GET /metrics HTTP/1.1" 200 OK',
    "[INFO] RUNTIME(775,python3):2025-11-30-09:38:38.000001 [stream.cc:71] stream synchronize start",
    "[INFO] HCCL(775,python3):2025-11-30-09:38:38.000001 [api_c.cc:117] device thread task event model memory",
)
"""What a healthy server and its plog print with every request or every ten seconds: a pattern that matches one of these soon has all the matches that are kept."""

EVERYWHERE = (
    "(APIServer pid=1) INFO 11-30 09:38:38 [loggers.py:127] " + " ".join(HEALTHY) + " SpecDecoding metrics: Mean acceptance length: "
    "Received request cmpl-1: prompt: params: SamplingParams(n=1, temperature=0.0, max_tokens=16) Added request chatcmpl-1 engine launcher.py api_server.py "
    "[INFO] ASCENDCL [INFO] TDT [INFO] GE [INFO] DRV [EVENT] PROFILING session graph kernel driver load stop torch vllm core server node"
).lower()
"""What a healthy server prints with every request (vLLM 0.8 to 0.32), and its plog all the time: no fast path if there is another literal."""


def everywhere(literal: str) -> bool:
    """Whether it stands in the lines that a healthy server prints all the time."""
    return literal.lower() in EVERYWHERE

_MOST = 64
"""Literals of one pattern at the most: an alternation of more is two patterns."""

_MOST_CROSSED = 24
"""Literals at the most that alternatives make with what stands beside them: `(?:low|poor) (?:speed|throughput)` makes four."""

_MOST_CHARACTERS = 6
_MOST_REPEATED = 2

LONG_ENOUGH = 6
"""Bytes from which a longer literal is no better: so long it is rare, and more literals cost more than longer ones save."""

_MANY, _MANY_COST = 8, 4
"""More literals than this are as good as few that are two bytes shorter."""

NO_ROOM = (codes.AT, codes.ASSERT, codes.ASSERT_NOT)
"""Parts that match no text: what stands on their two sides stands together."""


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
    found = best(parsed, usable)
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


def best(sequence: Any, strength: Callable[[str], int]) -> set[str] | None:
    """The best literal set of a sequence: the one whose weakest literal is strongest; of equals the smallest."""
    candidates: list[set[str]] = []
    run: list[str] = []
    crossed = {""}
    for code, argument in sequence:
        if code is codes.ASSERT and (ahead := best(argument[1], strength)) is not None:
            candidates.append(ahead)  # it must stand in the line as well
        if code in NO_ROOM:
            continue
        if code is codes.LITERAL:
            run.append(chr(argument))
        else:
            candidates.append({"".join(run)})
            run = []
        texts = _exact(code, argument)
        if texts is not None and (longer := _crossed(crossed, texts)):
            crossed = longer
            continue
        candidates += [crossed, _crossed(crossed, texts or _ends(code, argument, 1)) or crossed]
        crossed = texts or _ends(code, argument, -1)
        if (inner := _inside(code, argument, strength)) is not None:
            candidates.append(inner)
    candidates += [{"".join(run)}, crossed]
    return max((found for found in candidates if "" not in found), key=lambda found: _rank(found, strength), default=None)


def _exact(code: Any, argument: Any) -> set[str] | None:
    """All texts that one part of a pattern can be, where these are few."""
    if code is codes.LITERAL:
        return {chr(argument)}
    if code in NO_ROOM:
        return {""}
    if code is codes.IN:
        return _characters(argument)
    if code is codes.SUBPATTERN:
        return _exact_sequence(argument[-1])
    if code is codes.BRANCH:
        texts: set[str] = set()
        for branch in argument[1]:
            inner = _exact_sequence(branch)
            if inner is None:
                return None
            texts |= inner
        return texts if len(texts) <= _MOST_CROSSED else None
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[1] <= _MOST_REPEATED:
        once = _exact_sequence(argument[2])
        return None if once is None else _repeated(once, argument[0], argument[1])
    return None


def _exact_sequence(sequence: Any) -> set[str] | None:
    texts = {""}
    for code, argument in sequence:
        part = _exact(code, argument)
        if part is None or not (longer := _crossed(texts, part)):
            return None
        texts = longer
    return texts


def _repeated(once: set[str], least: int, most: int) -> set[str] | None:
    texts, total = {""}, set[str]()
    for times in range(most + 1):
        if times >= least:
            total |= texts
        texts = _crossed(texts, once)
        if not texts and times < most:
            return None
    return total


def _characters(items: Any) -> set[str] | None:
    """A set of a few ASCII characters."""
    found: set[str] = set()
    for code, argument in items:
        if code is codes.LITERAL and argument < 0x80:
            found.add(chr(argument))
        elif code is codes.RANGE and argument[1] < 0x80 and argument[1] - argument[0] < _MOST_CHARACTERS:
            found |= set(map(chr, range(argument[0], argument[1] + 1)))
        else:
            return None
    return found if len(found) <= _MOST_CHARACTERS else None


def _ends(code: Any, argument: Any, step: int) -> set[str]:
    """What a part begins with (`step` 1) or ends with (-1), as far as these are few texts."""
    if code is codes.SUBPATTERN:
        return _end_of(argument[-1], step)
    if code is codes.BRANCH:
        texts = set().union(*(_end_of(branch, step) for branch in argument[1]))
        return texts if len(texts) <= _MOST_CROSSED else {""}
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] >= 1:
        return _end_of(argument[2], step)
    return {""}


def _end_of(sequence: Any, step: int) -> set[str]:
    texts = {""}
    for code, argument in list(sequence)[::step]:
        whole = _exact(code, argument)
        part = whole or _ends(code, argument, step)
        longer = _crossed(texts, part) if step > 0 else _crossed(part, texts)
        texts = longer or texts
        if not (whole and longer):
            break
    return texts


def _crossed(first: set[str], second: set[str]) -> set[str]:
    """Each of the first followed by each of the second; empty where these are too many."""
    return {one + other for one in first for other in second} if len(first) * len(second) <= _MOST_CROSSED else set()


def _inside(code: Any, argument: Any, strength: Callable[[str], int]) -> set[str] | None:
    if code is codes.SUBPATTERN:
        return best(argument[-1], strength)
    if code is codes.BRANCH:
        return _branches(argument[1], strength)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] >= 1:
        return best(argument[2], strength)
    return None


def _rank(literals: set[str], strength: Callable[[str], int]) -> tuple[int, int]:
    weakest = min(map(strength, literals))
    many = len(literals) > _MANY and weakest >= 2 * SHORTEST
    return max(weakest - _MANY_COST, 2 * SHORTEST) if many else weakest, -len(literals)


def usable(literal: str) -> int:
    """How good a fast path it is: its length in bytes, doubled; what stands in every line of a healthy log is weaker than the shortest that is allowed."""
    size = _size(literal)
    return size if size < 2 * SHORTEST or not everywhere(literal) else 2 * SHORTEST - 1


def rare(literal: str) -> int:
    """How rare it is, for a finder that needs no length: what a healthy log is full of is not, and short numbers are less so."""
    return 0 if everywhere(literal) else _size(literal) - 2 * literal.isdigit()


def _size(literal: str) -> int:
    return 2 * min(LONG_ENOUGH, len(literal.encode("utf-8", "replace")))


def _branches(branches: Any, strength: Callable[[str], int]) -> set[str] | None:
    found: set[str] = set()
    for branch in branches:
        inner = best(branch, strength)
        if inner is None:
            return None
        found |= inner
    return found
