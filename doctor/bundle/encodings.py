"""How logs write a text: quoted, escaped, in base64; and patterns tried only on lines that may hold them.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from doctor.bundle.patterns import MASK

SHORTEST_LEARNT = 8
"""Characters of a secret that is looked for everywhere; shorter ones stand in words by chance."""

_SHAPE = re.compile(r"(<[|｜][^<>\n]{1,60}[|｜]>|(?P<mark>[^\w\s])(?P=mark){3,})")


def shape(text: str) -> str:
    """What a person wrote or was told goes; a model's own marks, and one repeated endlessly, show what is wrong with it."""
    parts = re.split(_SHAPE, text)
    return "".join(part if index % 3 == 1 else MASK if index % 3 == 0 and part.strip() else "" for index, part in enumerate(parts))


def sub(pattern: re.Pattern[str], near: tuple[str, ...], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """`pattern.sub`, tried only on the lines that hold one of the literals (lower case; none: on all): most patterns are slower than the search for these."""
    if not near:
        return pattern.sub(replace, text)
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two; then the places would not be the same
        return pattern.sub(replace, text)
    lines = set()
    for literal in near:
        at = lower.find(literal)
        while at >= 0:
            lines.add(lower.rfind("\n", 0, at) + 1)
            end = lower.find("\n", at)
            at = lower.find(literal, end) if end >= 0 else -1
    if not lines:
        return text
    done, parts = 0, []
    for start in sorted(lines):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        parts += [text[done:start], pattern.sub(replace, text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def distinctive(value: str) -> bool:
    """Whether the value can be looked for everywhere without masking words that merely look like it."""
    if len(value) < SHORTEST_LEARNT or value.startswith(("/", MASK)) or value.isdigit() and len(value) < 12:
        return False
    return len(value) >= 20 or not re.fullmatch("[a-z]+|[A-Z]+|[A-Z][a-z]+|[a-z_-]+", value)


def variants(secret: str) -> set[str]:
    """How logs write it: as it is, quoted for a URL or JSON, in hexadecimal, in base64 at any of the three offsets."""
    data = secret.encode("utf-8", "surrogatepass")
    found = {secret, quote(secret, safe=""), quote_plus(secret), quote(secret), json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1], data.hex()}
    if len(data) >= 9:
        for offset in range(3):
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                whole = encode(b"\0" * offset + data).decode("ascii").rstrip("=")
                # The characters that also hold bits of the neighbours differ.
                start, end = (0, 2, 3)[offset], len(whole) - (1 if (len(data) + offset) % 3 else 0)
                found.add(whole[start:end])
    return {variant for variant in found if len(variant) >= SHORTEST_LEARNT}


def unescaped(text: str) -> str:
    """JSON's and Python's escapes undone, as far as they are some."""
    def char(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1] or match[2], 16))
        return chr(int(match[2], 16)) if match[2] else {"n": "\n", "t": "\t", "r": "\r"}.get(match[3], match[3])

    return re.sub(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|\\(.)", char, text)


def from_base64(text: str) -> str | None:
    """The text that it stands for; None where it is no text in base64."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) % 4 == 1 or plain.islower() or plain.isdigit() or plain.count("/") > 3 and len(plain) < 120:
        return None  # words, numbers, paths
    try:
        decoded = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return decoded if decoded and all(char.isprintable() or char in "\r\n\t" for char in decoded) else None


__all__ = ["SHORTEST_LEARNT", "distinctive", "from_base64", "shape", "sub", "unescaped", "variants"]
