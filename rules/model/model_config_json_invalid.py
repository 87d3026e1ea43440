"""config.json and its neighbours: valid JSON, and the keys without which nothing can be loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.model import Model, Models
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches
from doctor.regex import regex

from .served import about, listed, served

_DEEPSEEK = regex(r"deepseek[- ]v?\d|deepseek_v\d+[.-]\d", re.IGNORECASE)


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        yield from _judge(model)


def _judge(model: Model) -> Iterator[Hit]:
    folder, config = model.folder, model.folder.config
    if config is None or "config.json" in folder.pointers:
        if config is not None:
            yield about(model, "config.json", "config.json is a pointer of Git LFS, not the file itself", "the file itself")
        return
    if folder.files["config.json"] == 0:
        yield about(model, "config.json", "config.json is empty", "valid JSON")
    elif config.problem:
        yield about(model, "config.json", f"config.json: {config.problem}", "valid JSON")
    elif folder.generation_problem:
        yield about(model, "generation_config.json", f"generation_config.json: {folder.generation_problem}", "valid JSON")
    elif "params.json" not in folder.files:
        yield from _keys(model)


def _keys(model: Model) -> Iterator[Hit]:
    config = model.folder.config
    assert config is not None
    code = tuple(name for name in config.code_files if "/" not in name and name not in model.folder.files)
    if not config.model_type:
        yield about(model, "config.json", "config.json has no model_type", "model_type")
    elif _DEEPSEEK.match(config.model_type):
        right = config.model_type.lower().replace("-", "_").replace(" ", "_")
        yield about(model, "config.json", f"model_type is {config.model_type}", f"an underscore: {right}")
    elif not config.architectures:
        yield about(model, "config.json", "config.json has no architectures", "architectures")
    elif code:
        found = f"auto_map names files that are not there: {listed(code)}"
        yield about(model, "config.json", found, "these files, from the model's repository", Severity.WARN, Confidence.LIKELY)
    elif config.dtype is None and config.quant_method is None:
        yield about(model, "config.json", "config.json has neither dtype nor torch_dtype", "the type of the weights", Severity.NOTE)
