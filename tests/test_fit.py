"""The arithmetic of memory against what vLLM printed on real cards. docs/will-it-fit.md holds the same table, with its sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from doctor.facts.model_config import ModelConfig
from doctor.facts.safetensors import Tensor
from doctor.facts.vllm import parse_command
from doctor.fit import BLOCK, GIB, Card, Plan, activation, estimate, kv_bytes_per_token, tokens_in, visible, weights_per_card

WEIGHTS_WITHIN = 0.012
TOKENS_WITHIN = 0.015
"""Largest share by which a forecast was off; the log's own rounding to 0.01 GiB is part of it."""

QWEN3_14B = {"num_hidden_layers": 40, "hidden_size": 5120, "intermediate_size": 17408, "num_attention_heads": 40, "num_key_value_heads": 8,
             "head_dim": 128, "vocab_size": 151936, "max_position_embeddings": 40960, "torch_dtype": "bfloat16"}  # fmt: skip
QWEN3_06B = {"num_hidden_layers": 28, "hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16, "num_key_value_heads": 8,
             "head_dim": 128, "vocab_size": 151936, "torch_dtype": "bfloat16", "tie_word_embeddings": True}  # fmt: skip
QWEN3_30B_A3B = {"num_hidden_layers": 48, "hidden_size": 2048, "intermediate_size": 6144, "num_attention_heads": 32, "num_key_value_heads": 4,
                 "head_dim": 128, "vocab_size": 151936, "num_experts": 128, "moe_intermediate_size": 768, "num_experts_per_tok": 8,
                 "torch_dtype": "bfloat16"}  # fmt: skip
QWEN3_235B = {"num_hidden_layers": 94, "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128, "torch_dtype": "bfloat16"}
QWEN15_MOE = {"num_hidden_layers": 24, "hidden_size": 2048, "intermediate_size": 5632, "num_attention_heads": 16, "num_key_value_heads": 16,
              "vocab_size": 151936, "num_experts": 60, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
              "num_experts_per_tok": 4, "torch_dtype": "bfloat16"}  # fmt: skip
GLM4_32B = {"num_hidden_layers": 61, "hidden_size": 6144, "intermediate_size": 23040, "num_attention_heads": 48, "num_key_value_heads": 2,
            "head_dim": 128, "vocab_size": 151552, "max_position_embeddings": 32768, "torch_dtype": "bfloat16"}  # fmt: skip
V2_LITE = {"num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
           "torch_dtype": "bfloat16"}  # fmt: skip


def tensors(config: dict[str, Any]) -> dict[str, Tensor]:
    """The tensors of a Llama-like model, dense or with experts, in two bytes an element."""
    return {name: Tensor("BF16", shape, 0, 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)) for name, shape in _shapes(config)}


def _shapes(config: dict[str, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    hidden, vocab = config["hidden_size"], config["vocab_size"]
    head = config.get("head_dim", hidden // config["num_attention_heads"])
    yield "model.embed_tokens.weight", (vocab, hidden)
    yield "lm_head.weight", (vocab, hidden)
    yield "model.norm.weight", (hidden,)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        yield f"{prefix}.input_layernorm.weight", (hidden,)
        for name, heads in (("q", config["num_attention_heads"]), ("k", config["num_key_value_heads"]), ("v", config["num_key_value_heads"])):
            yield f"{prefix}.self_attn.{name}_proj.weight", (heads * head, hidden)
        yield f"{prefix}.self_attn.o_proj.weight", (hidden, config["num_attention_heads"] * head)
        parts = [("mlp", config["intermediate_size"])]
        if "num_experts" in config:
            yield f"{prefix}.mlp.gate.weight", (config["num_experts"], hidden)
            parts = [(f"mlp.experts.{expert}", config["moe_intermediate_size"]) for expert in range(config["num_experts"])]
            parts += [("mlp.shared_expert", config["shared_expert_intermediate_size"])] if "shared_expert_intermediate_size" in config else []
        for part, width in parts:
            for name in ("gate_proj", "up_proj", "down_proj"):
                yield f"{prefix}.{part}.{name}.weight", (width, hidden)


@pytest.mark.parametrize(
    ("config", "plan", "printed"),
    [
        (QWEN3_14B, Plan(), 27.5376),
        (QWEN3_06B, Plan(), 1.1195),
        (QWEN3_30B_A3B, Plan(tp=4), 14.2474),
    ],
    ids=["Qwen3-14B", "Qwen3-Embedding-0.6B", "Qwen3-30B-A3B TP4"],
)
def test_weights_as_vllm_printed_them(config: dict[str, Any], plan: Plan, printed: float) -> None:
    assert weights_per_card(ModelConfig(config), tensors(config), plan) / GIB == pytest.approx(printed, rel=WEIGHTS_WITHIN)


@pytest.mark.parametrize(
    ("config", "plan", "room", "printed"),
    [
        (QWEN15_MOE, Plan(tp=4, dp=2), 53405099008, 1_086_464),
        (QWEN3_235B, Plan(tp=4), int(8.11 * GIB), 178_880),
        (V2_LITE, Plan(), int(0.95 * GIB), 32_768),
        ({"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 32}, Plan(dtype="float32"), GIB, 524_288),
    ],
    ids=["Qwen1.5-MoE TP4 DP2", "Qwen3-235B TP4", "DeepSeek-V2-Lite", "tiny, CPU"],
)
def test_tokens_as_vllm_printed_them(config: dict[str, Any], plan: Plan, room: int, printed: int) -> None:
    assert tokens_in(room, kv_bytes_per_token(ModelConfig(config), plan)) == pytest.approx(printed, rel=TOKENS_WITHIN)


def test_overhead_lies_where_logs_have_it() -> None:
    """What was taken besides weights and KV cache, from 0.9 of 65,452,113,920 bytes, before graphs were counted."""
    config, plan = ModelConfig(QWEN15_MOE), Plan(tp=4, dp=2)
    fit = estimate(config, tensors(QWEN15_MOE), plan, Card(65_452_113_920))
    printed = 0.9 * 65_452_113_920 - 53_405_099_008 - fit.weights
    assert fit.least < printed < fit.overhead
    # 0.22 GiB of activations were printed for a model of 1.14 GiB; together with 0.13 and 0.04 GiB it is the least overhead of all logs.
    small = estimate(ModelConfig(QWEN3_06B), tensors(QWEN3_06B), Plan(), Card(int(61.27 * GIB)))
    assert activation(ModelConfig(QWEN3_06B), Plan()) / GIB == pytest.approx(0.22, abs=0.05)
    assert small.least / GIB < 0.39 < small.overhead / GIB


def test_what_did_not_fit_is_told_before() -> None:
    """A report of 58.92 of 60.97 GiB allocated: the whole of GLM-4-32B on one card at 0.6."""
    fit = estimate(ModelConfig(GLM4_32B), tensors(GLM4_32B), Plan(utilization=0.6), Card(int(60.97 * GIB)))
    assert fit.best_room < 0
    half = estimate(ModelConfig(GLM4_32B), tensors(GLM4_32B), Plan(tp=2), Card(int(60.97 * GIB)))
    assert half.kv_room > 0 and half.concurrent and half.concurrent > 1
    assert half.longest == 32768


def test_cards_as_torch_sees_them() -> None:
    assert visible(65536, "a2") / GIB == pytest.approx(61.0, abs=0.3)
    assert visible(44278, "310p") / GIB == pytest.approx(43.24, abs=0.01)
    assert visible(100, "a2") == 0


def test_key_and_value_heads_are_repeated_and_mla_rows_are_not_split() -> None:
    few = ModelConfig(GLM4_32B)
    assert kv_bytes_per_token(few, Plan(tp=8)) == kv_bytes_per_token(few, Plan(tp=2)) == 2 * 61 * 1 * 128 * 2
    assert kv_bytes_per_token(ModelConfig(V2_LITE), Plan(tp=8)) == 27 * 576 * 2
    assert kv_bytes_per_token(few, Plan(pp=2)) == 2 * 31 * 2 * 128 * 2
    assert kv_bytes_per_token(few, Plan(kv_dtype="fp8")) == 2 * 61 * 2 * 128


def test_split_of_weights() -> None:
    config = ModelConfig({"num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2, "num_experts": 4})

    def on_card(name: str, plan: Plan, dtype: str = "BF16") -> int:
        return weights_per_card(config, {name: Tensor(dtype, (80, 80), 0, 12800)}, plan)

    four = Plan(tp=4, dp=2)
    assert on_card("model.layers.0.self_attn.q_proj.weight", four) == 3200
    assert on_card("model.layers.0.self_attn.k_proj.weight", four) == 6400
    assert on_card("model.layers.0.input_layernorm.weight", four) == 12800
    assert on_card("model.layers.0.mlp.gate.weight", four) == 12800
    assert on_card("model.layers.0.mlp.gate_proj.weight", four) == 3200
    assert on_card("model.layers.0.mlp.experts.3.up_proj.weight", four) == 1600
    assert on_card("model.layers.0.mlp.shared_experts.up_proj.weight", four) == 3200
    assert on_card("model.layers.2.mlp.up_proj.weight", four) == 0, "a draft layer is loaded only for speculation"
    assert on_card("model.layers.2.mlp.up_proj.weight", Plan(draft=True)) == 12800
    assert on_card("model.layers.0.mlp.up_proj.weight", Plan(), "F32") == 6400, "float32 is turned into 16 bits"
    assert on_card("model.layers.0.mlp.up_proj.weight_scale", Plan(), "F32") == 12800


def test_the_fullest_stage_of_a_pipeline_counts() -> None:
    config = ModelConfig({"num_hidden_layers": 3})
    stack = {f"model.layers.{layer}.mlp.up_proj.weight": Tensor("I8", (10, 10), 0, 100) for layer in range(3)}
    assert weights_per_card(config, stack, Plan(pp=2)) == 200


@pytest.mark.parametrize("config", [{}, {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"], "head_dim": 8},
                                    {"num_hidden_layers": 4, "mamba_d_state": 16, "num_attention_heads": 4, "hidden_size": 64}])  # fmt: skip
def test_a_cache_of_unknown_layout_has_no_number(config: dict[str, Any]) -> None:
    fit = estimate(ModelConfig(config), {}, Plan(), Card(GIB))
    assert fit.kv_per_token is fit.tokens is fit.concurrent is fit.longest is None


def test_linear_attention_layers_have_no_cache() -> None:
    config = {"num_hidden_layers": 4, "layer_types": ["linear_attention"] * 3 + ["full_attention"], "num_attention_heads": 4, "head_dim": 8}
    assert kv_bytes_per_token(ModelConfig(config), Plan()) == 2 * 4 * 8 * 2


def test_tokens_come_in_whole_blocks() -> None:
    assert tokens_in(10 * BLOCK - 1, 1) == 9 * BLOCK
    assert tokens_in(-5, 1) == 0


def test_plan_of_a_command() -> None:
    command = parse_command("vllm serve /m -tp 4 -dp 2 --max-model-len 32k --gpu-memory-utilization 0.8 --enforce-eager --dtype float16")
    assert Plan.of(command) == Plan(tp=4, dp=2, max_model_len=32_000, utilization=0.8, eager=True, dtype="float16")
    assert Plan.of(None) == Plan()
    hostile = parse_command("vllm serve /m -tp 99999999999 -pp x --max-model-len auto --gpu-memory-utilization 7")
    assert Plan.of(hostile) == Plan()
