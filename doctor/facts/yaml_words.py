"""Words of `command:` and `args:` lists in a YAML text (Kubernetes, compose), as they stand in a paste. Pure; never raises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from doctor.regex import regex

MOST_WORDS = 400
MOST_LISTS = 40

_KEY = regex(r"(\s{0,80})(?:- )?(command|args):\s{0,8}(\[.*\])?\s*$")
_ITEM = regex(r"(\s{0,80})- (.{1,4000})$")


def word_lists(lines: Sequence[str], starts: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(index of its first line, words) for each list that begins at one of `starts`; `args` right after `command` continue it."""
    end, first = -1, 0
    words: list[str] = []
    for at in starts[:MOST_LISTS]:
        found = _KEY.match(lines[at][:4100])
        if at < end or found is None:
            continue
        following = at == end and found[2] == "args"
        if not following:
            if words:
                yield first, tuple(words)
            words, first = [], at
        items, end = _list(lines, at, found[3])
        words += items
    if words:
        yield first, tuple(words)


def _list(lines: Sequence[str], at: int, inline: str | None) -> tuple[list[str], int]:
    """The words of the list whose key stands at `at`, and the index of the line after it."""
    if inline:
        try:
            told = json.loads(inline)
        except (ValueError, RecursionError):
            told = [word.strip(" '\"") for word in inline[1:-1].split(",")]
        return [str(word) for word in told][:MOST_WORDS], at + 1
    words: list[str] = []
    end = at + 1
    while end < len(lines) and len(words) < MOST_WORDS:
        item = _ITEM.match(lines[end][:4100])
        if item is None:
            break
        words.append(_word(item[2].strip()))
        end += 1
    return words, end


def _word(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
