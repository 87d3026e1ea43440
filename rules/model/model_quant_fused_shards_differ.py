"""Layers that vLLM makes one of, whose parts have different types in msModelSlim's description."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.finding import Hit
from doctor.logscan.signature import Matches
from doctor.regex import regex

from .served import about, served

_PART = regex(r"(?P<layer>.{1,200})\.(?P<part>q_proj|k_proj|v_proj|gate_proj|up_proj)\.weight", re.ASCII)
_FUSED = {"q_proj": "qkv_proj", "k_proj": "qkv_proj", "v_proj": "qkv_proj", "gate_proj": "gate_up_proj", "up_proj": "gate_up_proj"}


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        description = model.folder.description
        kinds: dict[str, dict[str, str]] = {}
        for name, kind in description.tensors.items() if description else ():
            part = _PART.fullmatch(name)
            if part:
                kinds.setdefault(f"{part['layer']}.{_FUSED[part['part']]}", {})[part["part"]] = kind
        wrong = next(((layer, parts) for layer, parts in kinds.items() if len(set(parts.values())) > 1), None)
        if description and wrong:
            layer, parts = wrong
            told = ", ".join(f"{part} {kind}" for part, kind in sorted(parts.items()))
            yield about(model, description.path.rpartition("/")[2], f"{layer}: {told}", "one type for all of them", values={"layer": layer})
            return
