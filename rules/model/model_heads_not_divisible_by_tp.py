"""The model's attention heads against the tensor-parallel size of the command that serves it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.finding import Hit
from doctor.fit import Plan
from doctor.logscan.signature import Matches

from .served import about, served


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        config, size = model.folder.config, Plan.of(model.command).tp
        heads = config.number("heads") if config else None
        kv_heads = config.kv_heads if config and not config.is_mla else None
        values = {"heads": str(heads), "size": str(size)}
        if heads and heads % size:
            yield about(model, "", f"{heads} attention heads, --tensor-parallel-size {size}", "a size that divides the heads", values=values)
        elif kv_heads and kv_heads % size and size % kv_heads:
            found = f"{kv_heads} key/value heads, --tensor-parallel-size {size}"
            yield about(model, "", found, "a size that divides these heads, or a multiple of them", values=values)
