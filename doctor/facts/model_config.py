"""config.json of a model: the values that decide whether and how it can be served. Pure; never raises on any text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from doctor.record import dataclass
from doctor.text import clean_line

_TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where models of several kinds of input keep the language model's values."""
_NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "intermediate": ("intermediate_size", "ffn_hidden_size", "n_inner"),
    "heads": ("num_attention_heads", "n_head", "num_heads"),
    "kv_heads": ("num_key_value_heads", "multi_query_group_num", "num_kv_heads", "n_head_kv"),
    "head_dim": ("head_dim", "kv_channels"),
    "vocab": ("vocab_size", "padded_vocab_size"),
    "max_positions": ("max_position_embeddings", "n_positions", "seq_length", "max_sequence_length", "model_max_length"),
    "experts": ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"),
}
_MOST = 2**48


@dataclass(frozen=True)
class ModelConfig:
    """The file's values as they stand in it; `problem` says why it could not be read as JSON, "" if it could."""

    values: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def text(self) -> Mapping[str, Any]:
        """The part that describes the language model; the whole where there is no such part."""
        part: Mapping[str, Any] = self.values
        for _ in range(3):
            inner = next((part[name] for name in _TEXT_PARTS if isinstance(part.get(name), dict)), None)
            if inner is None:
                break
            part = inner
        return part

    def word(self, name: str) -> str | None:
        """A text, cleaned: of the language model's part, else of the whole."""
        for part in (self.text, self.values):
            value = part.get(name)
            if isinstance(value, str):
                return clean_line(value)[:200]
        return None

    def number(self, name: str) -> int | None:
        """A whole number that is not negative; `name` is one of the file's, or one that several names of the file stand for."""
        for part in (self.text, self.values):
            for key in _NAMES.get(name, (name,)):
                value = part.get(key)
                if type(value) is int and 0 <= value < _MOST:
                    return value
        return None

    def truth(self, name: str) -> bool | None:
        for part in (self.text, self.values):
            value = part.get(name)
            if isinstance(value, bool):
                return value
        return None

    def texts(self, name: str) -> tuple[str, ...]:
        for part in (self.text, self.values):
            value = part.get(name)
            if isinstance(value, list):
                return tuple(clean_line(item)[:200] for item in value[:10_000] if isinstance(item, str))
        return ()

    @property
    def architectures(self) -> tuple[str, ...]:
        """Of the whole model, not of its language part."""
        value = self.values.get("architectures")
        return tuple(clean_line(item)[:200] for item in value[:20] if isinstance(item, str)) if isinstance(value, list) else ()

    @property
    def model_type(self) -> str | None:
        value = self.values.get("model_type")
        return clean_line(value)[:100] if isinstance(value, str) else None

    @property
    def dtype(self) -> str | None:
        """ "bfloat16", "float16", "float32"; the key is torch_dtype in older files."""
        word = self.word("dtype") or self.word("torch_dtype")
        return word.removeprefix("torch.") if word else None

    @property
    def kv_heads(self) -> int | None:
        return self.number("kv_heads") or self.number("heads")

    @property
    def head_dim(self) -> int | None:
        """Numbers of one head's key; what the file leaves out is hidden size by heads."""
        told, hidden, heads = self.number("head_dim"), self.number("hidden"), self.number("heads")
        return told or (hidden // heads if hidden and heads else None)

    @property
    def is_mla(self) -> bool:
        """Multi-head latent attention: one compressed row a token instead of keys and values of each head."""
        return bool(self.number("kv_lora_rank")) and self.number("qk_rope_head_dim") is not None

    @property
    def tied(self) -> bool:
        """Whether the file says that the output layer uses the embedding's weights. Left out, it depends on the architecture."""
        return self.truth("tie_word_embeddings") is True

    @property
    def quantization(self) -> Mapping[str, Any]:
        for part in (self.values, self.text):
            for name in ("quantization_config", "compression_config"):
                value = part.get(name)
                if isinstance(value, dict):
                    return value
        return {}

    @property
    def quant_method(self) -> str | None:
        """ "fp8", "awq", "gptq", "compressed-tensors" …: what config.json itself says; msModelSlim says it in a file of its own."""
        value = self.quantization.get("quant_method")
        return clean_line(value)[:60].lower() if isinstance(value, str) else None

    @property
    def code_files(self) -> tuple[str, ...]:
        """Python files beside it that auto_map names; those of other repositories ("owner/name--file.Class") left out."""
        value = self.values.get("auto_map")
        named = [item for entry in (value.values() if isinstance(value, dict) else ()) for item in (entry if isinstance(entry, list) else [entry])]
        modules = {clean_line(item).rpartition(".")[0] for item in named[:100] if isinstance(item, str) and "--" not in item}
        return tuple(sorted(module.replace(".", "/") + ".py" for module in modules if module))


def parse_config(text: str, marked: bool = False) -> ModelConfig:
    """config.json; `marked`: the file begins with a byte order mark, at which JSON readers stop."""
    if marked:
        return ModelConfig(_object(text) or {}, "the file begins with a byte order mark")
    try:
        found = json.loads(text)
    except RecursionError:
        return ModelConfig(problem="nested too deeply")
    except ValueError as problem:
        line, column = getattr(problem, "lineno", 0), getattr(problem, "colno", 0)
        said = getattr(problem, "msg", "") or "not a number that can be read"
        return ModelConfig(problem=f"line {line}, column {column}: {said}" if line else said)
    return ModelConfig(found) if isinstance(found, dict) else ModelConfig(problem="not an object")


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


__all__ = ["ModelConfig", "parse_config"]
