"""The model's architecture against those that the installed vLLM says it no longer has."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.beside import Registry
from doctor.facts.model import Models
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from .served import about, served


def judge(models: Models | None, registry: Registry | None, matches: Matches) -> Iterator[Hit]:
    gone = dict(registry.removed) if registry else {}
    for model in served(models, matches):
        for name in model.folder.config.architectures if model.folder.config else ():
            if name in gone:
                yield about(model, "config.json", f"{name}, which vLLM had up to {gone[name]}", "an architecture of the installed vLLM", confidence=Confidence.LIKELY)
                return
