"""W8A8 weights whose own type, float16, decides because the command gives none."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, setting
from doctor.facts.npu import Chip
from doctor.finding import Confidence, Hit, Severity

from .served import about


def judge(models: Models | None, chip: Chip | None) -> Iterator[Hit]:
    for model in models.models if models else ():
        config, description = model.folder.config, model.folder.description
        kind = (description.main_type if description else None) or ""
        asked = setting(model.command, "dtype") or "auto"
        if chip and chip.family == "a2" and kind.startswith("W8A8") and asked == "auto" and config and config.dtype == "float16":
            found = f"{kind} weights whose config.json says float16, on {chip.name}"
            yield about(model, "config.json", found, "--dtype bfloat16", Severity.WARN, Confidence.LIKELY)
