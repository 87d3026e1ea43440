"""What rules found, what they want and why they could not look, in the reader's language.

Rules say these texts in English, in cause files and in Python; `rules/data/found-zh.txt` holds the Chinese of their sentences. Machine-readable
reports keep the English, so that programs can compare it. Contract: `said` never raises; what it does not know stays as it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from doctor.errorcodes import explain
from doctor.record import dataclass
from doctor.regex import regex
from doctor.rulepackage import data_text

LONGEST = 2000
"""Characters of a text that are looked at: longer ones are lines of logs."""

_HOLE = regex(r"\{(\d?)\}")
_WEAK = 10
"""Letters below which a sentence fits too much: then only names, versions and lists of them may stand in its gaps."""
_PLAIN = regex(r"[^\s,]+(?: \S{0,40}\d\S*| [KMGT]i?B)?(?:, [^\s,]+(?: \S{0,40}\d\S*)?)*|")
_DEEPEST = 3
_FAULT = regex(r"((?:[0-9A-F]{8} ?){1,64}): (.{1,300}?)(?: \(also ([0-9A-F ]{8,600})\))?")
_CONTRARY = regex(r"([\w.\-/]{1,80}) not ([<>=!]{1,2} ?\S.{0,80})")
_WHY = {"missing": "不存在", "denied": "无权读取", "timed out": "超时未响应", "too big": "过大", "not recorded": "没有录制", "left out": "此 profile 不检查"}
"""The words of `doctor.host.Why`."""
_UNAVAILABLE = regex(rf"(.{{1,200}}?): ({'|'.join(_WHY)})(?: \((.*)\))?")
"""What could not be had, as `str(Unavailable)` tells it."""
_JOINTS = (("; ", "；"), (": ", "："), (", ", "，"))


@dataclass(frozen=True)
class Sentence:
    """One sentence: its fixed parts in English, and the whole in Chinese with numbered gaps."""

    parts: tuple[str, ...]
    chinese: str

    @property
    def weight(self) -> int:
        return sum(character.isalpha() for part in self.parts for character in part)


def said(text: str, language: str) -> str:
    """The text of a finding or a skip in that language."""
    if language != "zh" or not text or len(text) > LONGEST or "\n" in text:
        return text
    return _chinese(text, 0) or text


def parse(text: str) -> tuple[Sentence, ...]:
    """The sentences of the table, those with the most letters first. Raises ValueError for a line that is none."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        english, arrow, chinese = line.partition(" => ")
        parts = tuple(english.strip().split("{}"))
        gaps = [match[1] for match in _HOLE.finditer(chinese)]
        named = [int(gap) for gap in gaps if gap]
        if not arrow or not chinese.strip() or (len(gaps) > len(parts) - 1 and not named) or any(number >= len(parts) - 1 for number in named):
            raise ValueError(f"not `English => Chinese` with the same gaps: {line[:100]}")
        found.append(Sentence(parts, chinese.strip()))
    return tuple(sorted(found, key=lambda sentence: -sentence.weight))


@functools.cache
def _table() -> tuple[dict[str, str], tuple[Sentence, ...]]:
    """(sentences without gaps, those with gaps)."""
    try:
        found = parse(data_text("found-zh.txt"))
    except (OSError, ValueError):
        return {}, ()
    whole = {sentence.parts[0]: sentence.chinese for sentence in found if len(sentence.parts) == 1}
    return whole, tuple(sentence for sentence in found if len(sentence.parts) > 1)


@functools.lru_cache(maxsize=4096)
def _chinese(text: str, depth: int) -> str | None:
    """The Chinese, None where nothing of the text is known."""
    whole, sentences = _table()
    if text in whole or text in _WHY:
        return whole.get(text) or _WHY[text]
    if depth > _DEEPEST or not re.search("[A-Za-z]{2}", text):
        return None
    if fault := _fault(text):
        return fault
    for sentence in sentences:
        gaps = _gaps(sentence, text)
        if gaps is not None:
            return _filled(sentence.chinese, [_chinese(gap, depth + 1) or gap for gap in gaps])
    if "; " not in text and (lacking := _UNAVAILABLE.fullmatch(text)):
        detail = f"（{_chinese(lacking[3], depth + 1) or lacking[3]}）" if lacking[3] else ""
        return f"{_chinese(lacking[1], depth + 1) or lacking[1]}：{_WHY[lacking[2]]}{detail}"
    contrary = _CONTRARY.fullmatch(text)
    if contrary:
        return f"{contrary[1]} 不应 {contrary[2]}"
    for joint, sign in _JOINTS:
        if joint in text:
            pieces = text.split(joint) if joint != ": " else text.split(joint, 1)
            told = [_chinese(piece, depth + 1) for piece in pieces]
            if any(told):
                return sign.join(new or old for new, old in zip(told, pieces, strict=True))
    return None


def _fault(text: str) -> str | None:
    """Fault codes of the NPU with the meaning of the first, which the table of codes has in both languages."""
    match = _FAULT.fullmatch(text)
    meanings = [entry.meaning for entry in explain(match[1].split()[0])] if match else []
    meaning = next((each.zh for each in meanings if match and each.en == match[2]), None)
    if match is None or meaning is None:
        return None
    return f"{match[1]}：{meaning}" + (f"（另有 {match[3]}）" if match[3] else "")


def _gaps(sentence: Sentence, text: str) -> list[str] | None:
    """What stands in the gaps of the sentence; None where it is another one."""
    first, *rest = sentence.parts
    if not text.startswith(first):
        return None
    gaps: list[str] = []
    at = len(first)
    for place, part in enumerate(rest, 1):
        end = len(text) - len(part) if place == len(rest) else text.find(part, at + 1)
        if end < at or not text.startswith(part, end) or (end == at and place < len(rest)):
            return None
        gaps.append(text[at:end])
        at = end + len(part)
    if at != len(text) or any("; " in gap for gap in gaps) or sentence.weight < _WEAK and not all(_PLAIN.fullmatch(gap) for gap in gaps):
        return None
    return gaps


def _filled(chinese: str, gaps: list[str]) -> str:
    order = iter(range(len(gaps)))

    def put(match: re.Match[str]) -> str:
        return gaps[int(match[1]) if match[1] else next(order)]

    return _HOLE.sub(put, chinese)


def sentences_of(text: str) -> Iterator[str]:
    """For tests: the English sentences of the table."""
    yield from ("{}".join(sentence.parts) for sentence in parse(text))
