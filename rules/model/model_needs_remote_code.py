"""A model that brings its own code, served without leave to run it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.beside import Registry
from doctor.facts.model import Models, setting
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from .served import about, served


def judge(models: Models | None, registry: Registry | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        config = model.folder.config
        if config is None or not isinstance(config.values.get("auto_map"), dict) or setting(model.command, "trust-remote-code") is not None:
            continue
        if registry is None or not any(name in registry.known for name in config.architectures):
            confidence = Confidence.LIKELY if registry else Confidence.POSSIBLE
            severity = Severity.WARN if registry else Severity.NOTE
            yield about(model, "config.json", "auto_map without --trust-remote-code", "--trust-remote-code", severity, confidence)
            return
