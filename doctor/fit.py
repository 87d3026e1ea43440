"""Whether a model fits on its cards: weights, overhead and KV cache of one card, in bytes. Pure arithmetic.

Contract: every number that hangs on something unknown is None, never a guess. The formulas, and how far they were from what vLLM
printed on real cards, stand in docs/will-it-fit.md; tests/test_fit.py holds them to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from doctor.facts.model import length, setting
from doctor.facts.model_config import ModelConfig
from doctor.facts.number import decimal
from doctor.facts.safetensors import Tensor
from doctor.facts.vllm import ServeCommand
from doctor.record import dataclass
from doctor.regex import regex

GIB = 2**30
BLOCK = 128
"""Tokens in a block of the KV cache: vllm-ascend's default on every chip."""
DRIVER_SHARE = 3.0 * GIB
"""Of a card with HBM: what npu-smi counts and torch does not see. 65,536 MB are 60.96 to 61.27 GiB in the logs of A2 and A3."""
MOST_CARDS = 4096
UTILIZATION = 0.9
"""vLLM's default of --gpu-memory-utilization on the NPU."""
MAX_NUM_SEQS = 256
MAX_NUM_BATCHED_TOKENS = 2048
"""vLLM's defaults for a server on a card of less than 70 GiB."""
NON_TORCH = 0.25 * GIB
"""Context, operator binaries and workspaces of one process; 0.13 to 0.3 GiB in the logs."""
COMMUNICATION = 0.8 * GIB
"""Two communicators with two buffers of HCCL_BUFFSIZE (200 MB) each, where there is more than one card."""
GRAPHS = 0.8 * GIB
"""Captured graphs; 0.04 (0.6B) to 1.02 GiB in the logs. None with --enforce-eager."""
LEAST = 0.25
"""Share of the overhead below which no log was seen: what is short even then cannot start."""

_FLOAT_BYTES = {"float32": 4, "float": 4, "bfloat16": 2, "float16": 2, "half": 2}
_KV_BYTES = {"auto": None, "bfloat16": 2, "float16": 2, "half": 2, "int8": 1, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "float32": 4}
_LAYER = regex(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,5})\.")
_EXPERT = regex(r"\.experts\.")
_KEY_VALUE = regex(r"\.(?:k_proj|v_proj)\.")
_REPLICATED = regex(
    r"norm|\.gate\.(?:weight|e_score_correction_bias)|shared_expert_gate|q_a_proj|kv_a_proj|\.indexer\.|eh_proj|rotary_emb|router\.|_scale_inv$"
)
_SCALES = regex(r"(?:scale|offset|bias|zeros|g_idx)[\w]*$")


@dataclass(frozen=True)
class Plan:
    """How a model is to be served, as far as memory hangs on it. None: left to vLLM's default or to the model."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    utilization: float = UTILIZATION
    dtype: str | None = None
    kv_dtype: str | None = None
    eager: bool = False
    draft: bool = False
    """Whether the model's own draft layers (MTP) are loaded."""

    @property
    def cards(self) -> int:
        return self.tp * self.pp * self.dp

    @staticmethod
    def of(command: ServeCommand | None) -> Plan:
        """What the command asks for; values that are no sensible numbers count as not given."""

        def size(name: str) -> int:
            return min(max(length(setting(command, name)) or 1, 1), MOST_CARDS)

        utilization = decimal(setting(command, "gpu-memory-utilization"))
        return Plan(
            tp=size("tensor-parallel-size"),
            pp=size("pipeline-parallel-size"),
            dp=size("data-parallel-size"),
            max_model_len=length(setting(command, "max-model-len")) or None,
            max_num_seqs=length(setting(command, "max-num-seqs")) or None,
            max_num_batched_tokens=length(setting(command, "max-num-batched-tokens")) or None,
            utilization=utilization if utilization and 0 < utilization <= 1 else UTILIZATION,
            dtype=setting(command, "dtype"),
            kv_dtype=setting(command, "kv-cache-dtype"),
            eager=setting(command, "enforce-eager") is not None,
            draft="mtp" in (setting(command, "speculative-config") or "").lower(),
        )


@dataclass(frozen=True)
class Card:
    """One card's memory in bytes: `total` as torch sees it, `used` by others before the start (None: not known)."""

    total: int
    used: int | None = None


@dataclass(frozen=True)
class Fit:
    """What lies on one card, the fullest, in bytes. `overhead` is what is usual, `least` what no start is without."""

    weights: int
    overhead: int
    least: int
    budget: int
    kv_per_token: int | None
    max_model_len: int | None
    positions: int | None = None
    """The longest context that the model knows."""
    used: int | None = None

    @property
    def kv_room(self) -> int:
        """Bytes for the KV cache, negative where the weights alone are too much."""
        return self.budget - self.weights - self.overhead

    @property
    def best_room(self) -> int:
        """The same with the least overhead: what is short here cannot be talked away."""
        return self.budget - self.weights - self.least

    @property
    def tokens(self) -> int | None:
        """What the KV cache holds, in whole blocks."""
        return tokens_in(self.kv_room, self.kv_per_token)

    @property
    def best_tokens(self) -> int | None:
        return tokens_in(self.best_room, self.kv_per_token)

    @property
    def concurrent(self) -> int | None:
        """Requests of the full length that fit at once: the largest --max-num-seqs that never has to wait."""
        if self.tokens is None or not self.max_model_len:
            return None
        return self.tokens // _whole_blocks(self.max_model_len)

    @property
    def longest(self) -> int | None:
        """The largest --max-model-len of which one request fits, at most what the model knows."""
        return self.tokens if self.tokens is None else min(self.tokens, self.positions or self.tokens)


def visible(hbm_mb: int, family: str | None) -> int:
    """Bytes that torch sees of what npu-smi prints; 310P keeps nothing back."""
    total = hbm_mb * 2**20
    return total if family in ("310p", "310", "310b") else int(max(total - DRIVER_SHARE, 0))


def held_by_others(used_mb: int, family: str | None) -> int:
    """Bytes of what npu-smi counts as used that torch would see as taken: all but the driver's own share."""
    return used_mb * 2**20 if family in ("310p", "310", "310b") else int(max(used_mb * 2**20 - DRIVER_SHARE, 0))


def tokens_in(room: int, per_token: int | None) -> int | None:
    """Tokens of whole blocks in so many bytes."""
    return None if not per_token else max(room, 0) // (per_token * BLOCK) * BLOCK


def _whole_blocks(tokens: int) -> int:
    return -(-tokens // BLOCK) * BLOCK


def dtype_of(config: ModelConfig, plan: Plan) -> str:
    """The type of activations and of weights that are not quantised. vLLM turns float32 into a 16-bit type unless told otherwise."""
    asked = plan.dtype if plan.dtype in _FLOAT_BYTES else None
    told = asked or config.dtype or "bfloat16"
    return "bfloat16" if told == "float32" and asked is None else told


def kv_bytes_per_token(config: ModelConfig, plan: Plan) -> int | None:
    """Bytes of one token's keys and values on one card. None for a cache whose layout is not a plain one (several kinds of layers)."""
    layers, dim = config.number("layers"), config.head_dim
    if not layers or config.number("compress_ratio") or config.values.get("compress_ratios"):
        return None
    kinds = config.texts("layer_types")
    if any(kind not in ("full_attention", "linear_attention") for kind in kinds) or _state_space(config):
        return None
    size = _KV_BYTES.get(plan.kv_dtype or "auto") or _FLOAT_BYTES.get(dtype_of(config, plan), 2)
    layers = len([kind for kind in kinds if kind == "full_attention"]) if kinds else layers
    layers = -(-layers // plan.pp)
    if config.is_mla:
        row = (config.number("kv_lora_rank") or 0) + (config.number("qk_rope_head_dim") or 0)
        return layers * (row * size + (config.number("index_head_dim") or 0) * size)
    if not config.kv_heads or not dim:
        return None
    return 2 * layers * max(config.kv_heads // plan.tp, 1) * dim * size


def _state_space(config: ModelConfig) -> bool:
    """Mamba and the like keep a state of fixed size beside the cache, and a pattern of layers that has a form of its own."""
    return any(config.text.get(name) for name in ("mamba_d_state", "ssm_state_size", "hybrid_override_pattern", "linear_attn_config"))


def weights_per_card(config: ModelConfig, tensors: Mapping[str, Tensor], plan: Plan) -> int:
    """Bytes of the weights on the fullest card, from the tensors' names and sizes.

    Linear layers and embeddings are split by tensor parallelism, experts over all cards of tensor and data parallelism, layers
    by pipeline stages; norms, routers, low-rank projections of MLA, and key/value heads beyond their number lie on every card.
    """
    layers = config.number("layers") or 0
    heads = config.kv_heads or plan.tp
    size = _FLOAT_BYTES.get(dtype_of(config, plan), 2)
    stages = [0.0] * plan.pp
    for name, tensor in tensors.items():
        found = _LAYER.search(name)
        layer = int(found[1]) if found else None
        draft = name.startswith("mtp.") or ".mtp." in name or (layer is not None and 0 < layers <= layer)
        if (draft and not plan.draft) or (config.tied and name.endswith("lm_head.weight")):
            continue
        here = _loaded(name, tensor, size) / _split(name, plan, heads)
        stages[_stage(name, layer, layers, plan.pp)] += here
    return int(max(stages))


def _loaded(name: str, tensor: Tensor, size: int) -> float:
    """Bytes after loading: floating weights take the model's type, whatever the file has."""
    bits = {"F32": 4, "F64": 8, "F16": 2, "BF16": 2}.get(tensor.dtype)
    return tensor.size if bits is None or _SCALES.search(name) else tensor.size / bits * size


def _split(name: str, plan: Plan, kv_heads: int) -> int:
    if _EXPERT.search(name) and "shared_experts" not in name:
        return plan.tp * plan.dp
    if _REPLICATED.search(name):
        return 1
    return min(plan.tp, kv_heads) if _KEY_VALUE.search(name) else plan.tp


def _stage(name: str, layer: int | None, layers: int, stages: int) -> int:
    if layer is not None and layers:
        return min(layer * stages // layers, stages - 1)
    return stages - 1 if "lm_head" in name or "output" in name or name.endswith("model.norm.weight") else 0


def activation(config: ModelConfig, plan: Plan) -> int:
    """Bytes that one forward pass of the largest batch needs at its peak: hidden states, one MLP, and the logits of all sequences."""
    hidden = config.number("hidden") or 0
    batch = plan.max_num_batched_tokens or MAX_NUM_BATCHED_TOKENS
    wide = (config.number("intermediate") or 4 * hidden) // plan.tp
    expert = config.number("moe_intermediate_size")
    if expert and config.number("experts"):
        routed = config.number("num_experts_per_tok") or 1
        wide = max(routed * (expert // plan.tp + hidden // 2), 1)
    logits = min(plan.max_num_seqs or MAX_NUM_SEQS, batch) * (config.number("vocab") or 0) * 4
    return batch * (4 * hidden + 2 * wide) * 2 + logits


def estimate(config: ModelConfig, tensors: Mapping[str, Tensor], plan: Plan, card: Card) -> Fit:
    """What lies on the fullest card."""
    overhead = activation(config, plan) + NON_TORCH + (COMMUNICATION if plan.cards > 1 else 0) + (0 if plan.eager else GRAPHS)
    budget = plan.utilization * card.total
    return Fit(
        weights=weights_per_card(config, tensors, plan),
        overhead=int(overhead),
        least=int(LEAST * overhead),
        budget=int(budget),
        kv_per_token=kv_bytes_per_token(config, plan),
        max_model_len=plan.max_model_len or config.number("max_positions"),
        positions=config.number("max_positions"),
        used=card.used,
    )
