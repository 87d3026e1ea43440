"""Types of quantisation that vllm-ascend has no code for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.facts.npu import Chip
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches
from doctor.regex import regex

from .served import about, served

_KNOWN = regex(
    r"W8A8(?:_DYNAMIC|_MIX|_PDMIX|S|SC|FP8_DYNAMIC|FP8)?|W8A16|W4A4_(?:DYNAMIC|FLATQUANT_DYNAMIC|LAOS_DYNAMIC|\w{1,30})|W4A8(?:_DYNAMIC|\w{0,30})?|W4A16\w{0,20}"
    r"|\w{0,40}(?:MXFP|FP8|HIF)\w{0,40}|FAKQuant|INT8_DYNAMIC|C8|KV8|FLOAT|\w{0,20}\+.*|W16A16S",
    re.IGNORECASE,
)
_ON_310P = frozenset(("W8A8", "W8A8_DYNAMIC", "W8A8S", "W8A8SC"))


def judge(models: Models | None, chip: Chip | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        description = model.folder.description
        for kind in description.types if description else ():
            strange = not _KNOWN.fullmatch(kind)
            if description and (strange or (chip is not None and chip.family == "310p" and kind.upper() not in _ON_310P and not kind.upper().startswith(("FAK", "C8", "KV8")))):
                found = f"quantisation type {kind}" + ("" if strange or chip is None else f" on {chip.name}")
                yield about(model, description.path.rpartition("/")[2], found, "a type that vllm-ascend has", confidence=Confidence.LIKELY, values={"type": kind})
                return
