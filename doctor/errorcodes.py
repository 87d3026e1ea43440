"""Explains error codes of ACL, aclnn, CANN, DCMI, torch_npu and the NPU itself, and finds them in log lines.

Contract: both functions take any text and never raise on it. Only the file of the code's own family is read, once.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from doctor.record import dataclass
from doctor.regex import regex
from doctor.rulepackage import data_text
from doctor.words import Words

LONGEST_LINE = 20_000
"""Characters of a line that are searched for codes."""

RulesFor = Callable[[str], Iterable[str]]
"""Which rules deal with a code: the caller knows the rule book."""


@dataclass(frozen=True)
class CodeEntry:
    """What is known about one code."""

    code: str
    """As the tables write it: "507035", "EZ3002", "-8005", "80E01801", "ERR00100"."""
    family: str
    """acl (with aclnn), cann, dcmi, npu, torch."""
    name: str
    """ACL_ERROR_RT_…, the class of a CANN code, or the part of the NPU; "" for torch_npu."""
    level: str
    """Handling level of an NPU fault ("L5 RestartNPU") or number range of an ACL code ("5xxxxx")."""
    level_means: Words | None
    """What the level asks for, or what the range stands for."""
    meaning: Words
    causes: Words | None
    rules: tuple[str, ...] = ()


@functools.cache
def _table(family: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(data_text(f"errors/{family}.json"))
    return table


def sources(family: str) -> tuple[str, tuple[str, ...]]:
    """The date of a family's table, and where it is from."""
    table = _table(family)
    return str(table["as_of"]), tuple(table["sources"])


def explain(code: str, rules_for: RulesFor | None = None) -> tuple[CodeEntry, ...]:
    """Every entry that the text can mean, the likeliest first; () for a code that no table has."""
    for candidates in (_read(code.strip()), find_codes(code)):
        entries = tuple(found for one in candidates if (found := _entry(one, rules_for)) is not None)
        if entries:
            return entries
    return ()


_PLAIN = regex(r"(?:(?:errno|error code|code|ret|dcmi)\s*[:=]?\s*(?:is\s+)?)?(-?\w+)", re.IGNORECASE)


def _read(text: str) -> tuple[str, ...]:
    """Codes that a text which is nothing but a code may stand for."""
    match = _PLAIN.fullmatch(text[:100])
    if not match:
        return ()
    word = match[1].upper()
    if word.startswith(("ACL_", "ACLNN_", "ACL_ERROR")):
        return tuple(code for code, row in _table("acl")["codes"].items() if row["name"] == word)
    if re.fullmatch(r"8\d{3}", word):
        return (f"-{word}",)
    if word.startswith("0X"):
        return tuple(_of_hex(word[2:]))
    return (word,)


def _of_hex(digits: str) -> Iterable[str]:
    """An NPU fault has eight digits; anything shorter is an ACL code in hexadecimal."""
    if len(digits) >= 8:
        yield digits
    elif re.fullmatch(r"[0-9A-F]{5}", digits):
        yield str(int(digits, 16))


_FAMILIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("acl", regex(r"[1235]\d{5}")),
    ("cann", regex(r"[EW][A-Z0-9]\d{4}")),
    ("torch", regex(r"ERR\d{5}")),
    ("dcmi", regex(r"-8\d{3}")),
    ("npu", regex(r"[0-9A-F]{8,9}")),
)


def _entry(code: str, rules_for: RulesFor | None) -> CodeEntry | None:
    for family, shape in _FAMILIES:
        if shape.fullmatch(code):
            table = _table(family)
            row = table["codes"].get(code)
            return _made(code, family, row, table.get("levels", {}), rules_for) if row else None
    return None


def _made(code: str, family: str, row: Mapping[str, Any], levels: Mapping[str, Any], rules_for: RulesFor | None) -> CodeEntry:
    level = row.get("level", "")
    return CodeEntry(
        code=code,
        family=family,
        name=row["name"],
        level=level,
        level_means=Words(*levels[level]) if level in levels else None,
        meaning=Words(*row["meaning"]),
        causes=Words(*row["causes"]) if "causes" in row else None,
        rules=tuple(rules_for(code)) if rules_for else (),
    )


_CANN = regex(r"(?<![A-Za-z0-9_])([EW][A-Z0-9][0-9]{4})(?=[):\uff1a])")
"""Both forms: `EZ9999: [PID: 775] …` and `…Title(EI0011): …`."""
_TORCH = regex(r"(?<![A-Za-z0-9_])(ERR[0-9]{5})(?![0-9])")
_NUMBER = regex(
    r"(?:err(?:or)?[ _]?(?:code|no)|ret(?:urn)?(?:[ _]?(?:code|val(?:ue)?))?|result|status|error|failed)"
    r"[ ]{0,2}(?:is|:|=|,)?[ ]{0,2}\[?[ ]?(-8[0-9]{3}|[1235][0-9]{5}|0[xX][0-9a-fA-F]{5,8})(?![0-9a-fA-F.])",
    re.IGNORECASE,
)
_NAME = regex(r"(?<![A-Za-z0-9_])(ACL(?:NN)?_ERR[A-Z0-9_]{2,60})")
_FAULTS = regex(r"(?:error[ _]?code|fault[ _]?code|event[ _]?id|alarm|故障码|错误码)", re.IGNORECASE)
_FAULT = regex(r"(?<![0-9A-Za-z])(?:0[xX])?([89A-F][0-9A-Fa-f]{7}|[89a-f][0-9a-f]{7})(?![0-9A-Za-z])")
_HEX_FAULT = regex(r"(?<![0-9A-Za-z])0[xX]([8A-Ba-b][0-9A-Fa-f]{7})(?![0-9A-Za-z])")


def find_codes(text: str) -> list[str]:
    """The codes in a log line, each once, in their order. Bare numbers count only where words say that they are codes."""
    line = text[:LONGEST_LINE]
    found: dict[str, int] = {}
    for pattern in (_CANN, _TORCH):
        for match in pattern.finditer(line):
            found.setdefault(match[1], match.start(1))
    for match in _NUMBER.finditer(line):
        for code in _of_hex(match[1][2:].upper()) if match[1][:2].lower() == "0x" else (match[1],):
            if _shaped(code):
                found.setdefault(code, match.start(1))
    for match in _NAME.finditer(line):
        for code in _read(match[1]):
            found.setdefault(code, match.start(1))
    for match in (_FAULT if _FAULTS.search(line) else _HEX_FAULT).finditer(line):
        if match[1].upper() in _table("npu")["codes"]:
            found.setdefault(match[1].upper(), match.start(1))
    return sorted(found, key=found.__getitem__)


def _shaped(code: str) -> bool:
    """An ACL number or a DCMI value; an eight-digit NPU fault is checked against its table instead."""
    return bool(re.fullmatch(r"[1235][0-9]{5}|-8[0-9]{3}", code))


def meanings(codes: Sequence[str]) -> tuple[tuple[str, Words], ...]:
    """(code, what it means) for every code that is known."""
    return tuple((entry.code, entry.meaning) for code in codes for entry in explain(code)[:1])
