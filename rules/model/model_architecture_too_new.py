"""The model's architecture against the registry of the installed vLLM."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.beside import Registry
from doctor.facts.model import Models
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from .served import about, served


def judge(models: Models | None, registry: Registry | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        config = model.folder.config
        names = config.architectures if config else ()
        if config is None or registry is None or not names or "auto_map" in config.values or any(name in dict(registry.removed) for name in names):
            continue
        if not any(name in registry.known for name in names):
            found = f"{', '.join(names[:3])} is not in the registry of the installed vLLM"
            yield about(model, "config.json", found, "a vLLM that has it", confidence=Confidence.LIKELY)
            return
