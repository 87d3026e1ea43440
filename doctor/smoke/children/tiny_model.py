"""A small Llama with random weights, made on the spot, and its plain PyTorch forward pass: what an engine's tokens are compared with.

The weights are drawn so that the logits differ clearly: an engine that computes garbage cannot pass by chance, and rounding does not
decide which token is the greatest. Nothing is downloaded; the tokenizer is a list of words.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

VOCABULARY = 2048
LAYERS = 2
HEAD = 64
"""Size of one head: one that every backend takes (Qwen2.5-0.5B has it)."""
EPSILON = 1e-5
THETA = 10000.0
LONGEST = 1024
SEED = 20240229
NAMES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}


def config(dtype: str, heads: int) -> dict[str, Any]:
    """config.json; `heads` must be divisible by the tensor parallel size."""
    hidden = heads * HEAD
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": hidden,
        "intermediate_size": 2 * hidden, "num_attention_heads": heads, "num_key_value_heads": max(1, heads // 2), "head_dim": HEAD,
        "num_hidden_layers": LAYERS, "max_position_embeddings": LONGEST, "rms_norm_eps": EPSILON, "rope_theta": THETA,
        "rope_scaling": None, "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False, "torch_dtype": dtype,
        "vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "use_cache": True, "transformers_version": "4.51.0",
    }  # fmt: skip


def weights(torch: Any, settings: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """Random weights on the CPU by their names on disk."""
    draw = torch.Generator(device="cpu").manual_seed(SEED)
    hidden, inner, vocabulary = settings["hidden_size"], settings["intermediate_size"], settings["vocab_size"]
    keys = settings["num_key_value_heads"] * HEAD

    def normal(rows: int, columns: int, gain: float = 1.0) -> Any:
        values = torch.randn(rows, columns, generator=draw, dtype=torch.float32)
        return (values * (gain / math.sqrt(columns))).to(getattr(torch, dtype))

    ones = torch.ones(hidden, dtype=getattr(torch, dtype))
    made = {"model.embed_tokens.weight": normal(vocabulary, hidden, math.sqrt(hidden)), "model.norm.weight": ones}
    for layer in range(settings["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        made[prefix + "input_layernorm.weight"] = ones.clone()
        made[prefix + "post_attention_layernorm.weight"] = ones.clone()
        for name, rows, columns in (
            ("self_attn.q_proj", hidden, hidden), ("self_attn.k_proj", keys, hidden), ("self_attn.v_proj", keys, hidden),
            ("self_attn.o_proj", hidden, hidden), ("mlp.gate_proj", inner, hidden), ("mlp.up_proj", inner, hidden), ("mlp.down_proj", hidden, inner),
        ):  # fmt: skip
            made[f"{prefix}{name}.weight"] = normal(rows, columns, 1.4)
    made["lm_head.weight"] = normal(vocabulary, hidden, 4.0)
    return made


def write(torch: Any, folder: str, dtype: str, heads: int) -> dict[str, Any]:
    """Writes the model into a folder that is made, and gives its weights."""
    os.makedirs(folder, exist_ok=True)
    settings = config(dtype, heads)
    made = weights(torch, settings, dtype)
    _write_safetensors(torch, os.path.join(folder, "model.safetensors"), made, dtype)
    _write_json(os.path.join(folder, "config.json"), settings)
    _write_json(os.path.join(folder, "generation_config.json"), {"bos_token_id": 1, "eos_token_id": 2})
    write_tokenizer(folder)
    return made


def _write_safetensors(torch: Any, path: str, made: Mapping[str, Any], dtype: str) -> None:
    """The format is a length, a JSON table, and the raw values: the package safetensors is not needed for it."""
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, tensor in made.items():
        size = tensor.numel() * tensor.element_size()
        table[name] = {"dtype": NAMES[dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    header = json.dumps(table).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for tensor in made.values():
            file.write(tensor.contiguous().view(torch.uint8).numpy().tobytes())


def write_tokenizer(folder: str) -> None:
    """One word a token ("w17"), parted by blanks; and a template for chats."""
    vocabulary = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3}
    vocabulary.update({f"w{number}": number for number in range(4, VOCABULARY)})
    special = [
        {"id": number, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for word, number in list(vocabulary.items())[:4]
    ]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }  # fmt: skip
    template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    _write_json(os.path.join(folder, "tokenizer.json"), tokenizer)
    _write_json(
        os.path.join(folder, "tokenizer_config.json"),
        {
            "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": LONGEST, "bos_token": "<s>", "eos_token": "</s>",
            "unk_token": "<unk>", "pad_token": "<pad>", "chat_template": template, "clean_up_tokenization_spaces": False,
        },
    )  # fmt: skip


def _write_json(path: str, value: Any) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def prompts(sizes: Sequence[int]) -> list[list[int]]:
    """Token ids, the same in every run; lengths on both sides of the usual block sizes find errors at block borders."""
    return [[4 + (number * 7919 + position * 104729 + position * position) % (VOCABULARY - 4) for position in range(size)] for number, size in enumerate(sizes)]


def log_probabilities(torch: Any, made: Mapping[str, Any], settings: Mapping[str, Any], ids: Sequence[int]) -> Any:
    """[position, token]: logarithm of the probability of each token after `ids[: position + 1]`; computed in fp32 on the CPU."""
    heads, kv_heads = settings["num_attention_heads"], settings["num_key_value_heads"]

    def weight(name: str) -> Any:
        return made[name].float()

    def norm(values: Any, name: str) -> Any:
        return values * torch.rsqrt(values.pow(2).mean(-1, keepdim=True) + EPSILON) * weight(name)

    length = len(ids)
    frequencies = THETA ** (-torch.arange(0, HEAD, 2, dtype=torch.float32) / HEAD)
    angles = torch.outer(torch.arange(length, dtype=torch.float32), frequencies)
    cosine, sine = torch.cat((angles, angles), -1).cos(), torch.cat((angles, angles), -1).sin()

    def rotary(values: Any) -> Any:
        first, second = values[..., : HEAD // 2], values[..., HEAD // 2 :]
        return values * cosine + torch.cat((-second, first), -1) * sine

    mask = torch.full((length, length), float("-inf")).triu(1)
    state = weight("model.embed_tokens.weight")[torch.tensor(list(ids))]
    for layer in range(settings["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        normed = norm(state, prefix + "input_layernorm.weight")
        query, key, value = (
            (normed @ weight(f"{prefix}self_attn.{name}_proj.weight").T).view(length, count, HEAD).transpose(0, 1)
            for name, count in (("q", heads), ("k", kv_heads), ("v", kv_heads))
        )
        key, value = (each.repeat_interleave(heads // kv_heads, 0) for each in (rotary(key), value))
        scores = rotary(query) @ key.transpose(1, 2) / math.sqrt(HEAD) + mask
        mixed = (scores.softmax(-1) @ value).transpose(0, 1).reshape(length, heads * HEAD)
        state = state + mixed @ weight(prefix + "self_attn.o_proj.weight").T
        normed = norm(state, prefix + "post_attention_layernorm.weight")
        gate = torch.nn.functional.silu(normed @ weight(prefix + "mlp.gate_proj.weight").T)
        state = state + (gate * (normed @ weight(prefix + "mlp.up_proj.weight").T)) @ weight(prefix + "mlp.down_proj.weight").T
    logits = norm(state, "model.norm.weight") @ weight("lm_head.weight").T
    return logits.log_softmax(-1)
