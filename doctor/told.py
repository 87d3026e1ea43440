"""Expands the words in which people tell of a fault into one pattern: words that stand together in one sentence that states it.

A sentence that only supposes the fault, or tells how to avoid it ("if the port is in use", 避免卡死), states nothing: the first word must not
follow such an opening. The words may stand in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_WORDS = 3
"""Words that may be asked for in one sentence; one that asks for more of them describes one report, not a cause."""

_INSIDE = r"(?:[^。！？；!?;.]|\.(?=\S))"
"""A character within a sentence. A point ends one only before a blank: `v0.18.0` and `config.py` have points of their own."""

_PRINTED = (
    r"\w{3,40}Error: |Errno|EADDRINUSE|throughput: \d|reqs, |\[PID|\w\.(?:py|cc|cpp|ts|go):\d|unrecognized arguments|\[shutdown\]|\[ERROR\]"
    r"|not syncing|, trying port|\(exit code"
)
"""What only a program prints; lines of logs are for `log`."""

_START = rf"^(?!.{{0,300}}?(?:{_PRINTED}))(?:.{{0,600}}?(?:[。！？；!?;]|\.(?=\s)))?"

_SUPPOSED = (
    r"\bif\b(?! I\b| we\b)|\b(?:avoid|prevent|ensure|unless|in case|may|might|make sure|recommend|fix(?:es|ed)?\b|resolv|detects\b|whether|whenever|such as|how to find|this (?:change|pr|patch|commit)\b)"
    r"|\bcould\b(?! not)"
    r"|如果|假如|确认|检查是否|倘若|一旦|避免|防止|以免|以防|确保|请确认|可能会|可能导致|会导致|建议|修复|当.{0,12}时"
)
"""What opens a supposition, an advice or a note about a repair."""

_LONGEST = 300
"""Characters of a sentence that are looked at."""


def told(words: str | Sequence[str]) -> str:
    """The pattern. `words` is one expression, or up to `MOST_WORDS` of which each must stand in the sentence. Raises ValueError."""
    parts = [words] if isinstance(words, str) else list(words) if isinstance(words, list | tuple) else []
    if not 1 <= len(parts) <= MOST_WORDS or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"`told` holds texts, or lists of up to {MOST_WORDS} texts that stand in one sentence")
    beside = "".join(f"(?={_INSIDE}{{0,{_LONGEST}}}?(?:{part}))" for part in parts[1:])
    return f"(?i){_START}{beside}(?:(?!{_SUPPOSED}){_INSIDE}){{0,{_LONGEST}}}?(?:{parts[0]})"
