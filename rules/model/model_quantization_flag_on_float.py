"""--quantization ascend for a folder without msModelSlim's description."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, setting
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from .served import about, served


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        folder = model.folder
        if setting(model.command, "quantization") == "ascend" and folder.description is None and folder.config and not folder.config.quant_method:
            yield about(model, "", "--quantization ascend, but no quant_model_description.json", "no flag, or the quantised folder")
