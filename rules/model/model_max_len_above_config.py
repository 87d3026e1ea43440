"""--max-model-len against the positions that the model's configuration allows."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, length, setting
from doctor.facts.model_config import ModelConfig
from doctor.finding import Hit

from .served import about

ALLOWED = "VLLM_ALLOW_LONG_MAX_MODEL_LEN"
_INCLUDED = ("su", "longrope", "llama3", "mrope", "default")
"""Kinds of RoPE scaling whose range max_position_embeddings already tells."""


def judge(models: Models | None) -> Iterator[Hit]:
    for model in models.models if models else ():
        command, config = model.command, model.folder.config
        asked, derived = length(setting(command, "max-model-len")), derived_length(config) if config else None
        scaled = any(setting(command, name) is not None for name in ("hf-overrides", "rope-scaling", "rope-parameters"))
        if command is None or asked is None or derived is None or scaled or command.environment.get(ALLOWED) == "1":
            continue
        if asked > derived:
            values = {"asked": str(asked), "derived": str(derived)}
            yield about(model, "", f"--max-model-len {asked}, the model knows {derived} positions", f"{derived} or less", values=values)


def derived_length(config: ModelConfig) -> int | None:
    """Positions as vLLM derives them: the trained ones, times the factor of RoPE scaling where that is not already in them."""
    positions = config.number("max_positions")
    scaling = config.text.get("rope_scaling") or config.text.get("rope_parameters")
    if not positions or not isinstance(scaling, dict):
        return positions
    kind, factor, original = (scaling.get("rope_type") or scaling.get("type")), scaling.get("factor"), scaling.get("original_max_position_embeddings")
    if not isinstance(factor, int | float) or not 0 < factor < 10_000 or kind in _INCLUDED:
        return positions
    return max(positions, int((original if isinstance(original, int) else positions) * factor))
