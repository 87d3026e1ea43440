"""Chip names in a text: the names of chips and of servers in prose, image tags and log lines, and the family of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from doctor.facts.npu import Chip
from doctor.facts.report_prose import advice
from doctor.facts.report_text import HITS_CAP, Sightings, Strength, Text, text_of
from doctor.regex import regex

KERNELS = {"a1": "ascend910", "a2": "ascend910b", "a3": "ascend910_93", "310p": "ascend310p", "310b": "ascend310b", "950": "ascend950"}
"""Folder of the operator package by chip family."""

_CHIP = regex(
    r"(?:910b[1-4](?:-1|c)?|910b|910_93(?:\d\d)?|910c|910(?:premiuma|pro ?[ab]|a)|310p[1-3]?|310b[1-4]?|950(?:pr|dt)?)(?![a-z0-9]|[_.]\d)"
)
_PRODUCT = regex(r"atlas[ -]{0,2}(?P<model>\d{3,4}(?: ?[itv](?![a-z]))?)(?:[ -]{0,2}dk)?(?:[ -]{0,2}(?P<generation>a[235]|duo|pro|superpod))?")
_SERIES = regex(r"(?P<series>a[23]) ?(?:server|node|cluster|superpod|series|inference|服务器|机器|节点|单机|双机|集群|超节点|环境)")
_MAKER = regex(r"(?:ascend|昇腾)[ _-]?$")
_JOINED = regex(r"[a-z0-9._:]", re.ASCII)
_PART = regex(r"[a-z0-9._/-]", re.ASCII)
"""What stands before a word that is a part of a longer name. A Chinese character does not: 4张910B4, 在310P3上."""
_DEVICE = regex(r"current device socver(?:si|is)on (ascend\w{3,12})", re.IGNORECASE)
_SOC = regex(r"(?:soc[ _]?version|soc_name|chip[ _]?(?:name|type))['\"]?\s{0,4}[:=]\s{0,4}['\"]?(ascend\w{3,12})", re.IGNORECASE)

_A2_MODELS = {"800i", "800t", "900", "300i", "300t", "200t"}
_310P_MODELS = {"300i", "300v"}


def family_of_name(name: str) -> str | None:
    """Family of a chip's name as it is written in prose, lower or upper case, with or without "Ascend"."""
    short = name.lower().replace("ascend", "").strip(" _-")
    for prefix, family in (
        ("910b", "a2"),
        ("910_93", "a3"),
        ("910c", "a3"),
        ("910a", "a1"),
        ("910p", "a1"),
        ("310p", "310p"),
        ("310b", "310b"),
        ("950", "950"),
    ):
        if short.startswith(prefix):
            return family
    return {"910": "a1", "310": "310", "a2": "a2", "a3": "a3", "a5": "950"}.get(short)


def _family_of_product(model: str, generation: str) -> str | None:
    model = model.replace(" ", "")
    if generation == "a3":
        return "a3"
    if generation == "a2":
        return "a2" if model in _A2_MODELS or model.startswith(("800", "900")) else "310b" if model in ("200i", "500") else None
    if model in ("200", "500") and not generation:
        return "310"
    if model in _310P_MODELS:
        return "310p"
    if model in ("350", "850", "950"):
        return "950"
    return None


def chip(name: str, source: str = "", line: int = 0, family: str | None = None) -> Chip | None:
    """The `Chip` of a name, or None where the name is of no known family."""
    family = family or family_of_name(name)
    return Chip(family, name, KERNELS.get(family), source, line) if family else None


def tell_chips(text: Text, told: Sightings) -> None:
    """Chips that sentences, image tags and log lines name; several families in one line are a list of them, and say nothing."""
    for at in text.having("current device socver"):
        device = _DEVICE.search(text.lines[at])
        if device:
            told.tell("chip", device[1], Strength.LOG, at, family_of_name(device[1]))
    for at in text.having("soc", "chip_name", "chip name"):
        soc = _SOC.search(text.lines[at])
        if soc and family_of_name(soc[1]):
            told.tell("chip", soc[1], Strength.LOG, at, family_of_name(soc[1]))
    _tell_mentions(text, told)


def _tell_mentions(text: Text, told: Sightings) -> None:
    by_line: dict[int, list[tuple[str, str]]] = {}
    for start, name, family in (*_chips(text), *_products(text), *_series(text)):
        by_line.setdefault(text.at(start), []).append((name, family))
    for at, mentions in by_line.items():
        if len({family for _name, family in mentions}) == 1 and not text.lines[at].lstrip().startswith("|"):
            name, family = max(mentions, key=lambda mention: len(mention[0]))
            told.tell("chip", name, Strength.PROSE, at, family)


def _chips(text: Text) -> Iterator[tuple[int, str, str]]:
    lower = text.lower
    for found in islice(_CHIP.finditer(lower), HITS_CAP):
        start = found.start()
        maker = _MAKER.search(lower, max(0, start - 8), start)
        if maker is None and (found[0] in ("950", "910_93") or (start and _JOINED.match(lower[start - 1]))):
            continue
        family = family_of_name(found[0])
        if family and not advice(lower, start, found.end()):
            yield start, ("Ascend" if maker else "") + written(text, found), family


def _products(text: Text) -> Iterator[tuple[int, str, str]]:
    lower = text.lower
    for found in islice(_PRODUCT.finditer(lower), HITS_CAP):
        family = _family_of_product(found["model"], found["generation"] or "")
        if family and not advice(lower, found.start(), found.end()):
            yield found.start(), text.joined[found.start() : found.end()].strip(), family


def _series(text: Text) -> Iterator[tuple[int, str, str]]:
    lower = text.lower
    for found in islice(_SERIES.finditer(lower), HITS_CAP):
        if not (found.start() and _PART.match(lower[found.start() - 1])):
            yield found.start(), found["series"].upper(), found["series"]


def written(text: Text, found: re.Match[str]) -> str:
    """A chip's name as the text writes it, in capitals where it is all lower case."""
    name = text.joined[found.start() : found.end()]
    return name.upper() if name.islower() else name


def mentioned_chip(value: str) -> tuple[str, str] | None:
    """(name, family) of the one chip that a short value names, or None for none and for several."""
    text = text_of([("", 1, value[:200])])
    found = [*_chips(text), *_products(text)] or list(_series(text))
    if not found and value.strip().lower() in ("a2", "a3"):
        return value.strip().upper(), value.strip().lower()
    return found[0][1:] if len({family for _, _, family in found}) == 1 else None
