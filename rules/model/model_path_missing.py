"""A model's folder that is there but holds no configuration."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from .served import about, served


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        files = model.folder.files
        if model.folder.config is None and "params.json" not in files and not any(name.endswith(".gguf") for name in files):
            yield about(model, "", f"{model.path} holds no config.json" if files else f"{model.path} is empty", "a folder with config.json")
