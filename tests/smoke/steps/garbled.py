"""A step for tests: the engine's comparison with answers that are right, of one token, and of other weights. Needs torch, no vLLM."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any


def run(say: Any, job: Mapping[str, Any]) -> None:
    torch = importlib.import_module("torch")
    folder = os.path.dirname(os.path.abspath(sys.modules["__main__"].__file__ or ""))
    engine = sys.modules["__main__"].load(os.path.join(folder, "engine.py"))
    tiny = say.load("tiny_model")
    settings = tiny.config("float32", 8)
    weights = tiny.weights(torch, settings, "float32")
    other = {name: torch.roll(tensor, 1, 0) if name == "lm_head.weight" else tensor for name, tensor in weights.items()}
    prompts = tiny.prompts([5, 33])
    for name, used in (("right", weights), ("other weights", other)):
        engine._compare(say, torch, tiny, weights, settings, [_greedy(torch, tiny, used, settings, ids) for ids in prompts], "float32", name)
    nulls = [(ids, [0] * 24, [-0.01] * 24) for ids in prompts]
    engine._compare(say, torch, tiny, weights, settings, nulls, "float32", "one token")


def _greedy(torch: Any, tiny: Any, weights: Any, settings: Any, ids: list[int]) -> tuple[list[int], list[int], list[float]]:
    tokens: list[int] = []
    values: list[float] = []
    for _ in range(8):
        row = tiny.log_probabilities(torch, weights, settings, [*ids, *tokens])[-1]
        tokens.append(int(row.argmax()))
        values.append(float(row.max()))
    return ids, tokens, values
