"""A stand-in for torch_npu whose device is the CPU: for the control flow of the steps only. It computes nothing on an NPU and proves nothing about one."""

from __future__ import annotations

import importlib
import math
import os
import types
from typing import Any

__version__ = "0.0-standin"

_torch: Any = importlib.import_module("torch")
_current = [0]


def _device_count() -> int:
    return int(os.environ.get("STANDIN_CARDS", "1"))


def _set_device(card: int) -> None:
    if not 0 <= card < _device_count():
        raise RuntimeError(f"SetDevice failed, error code is 107001: card {card}")
    _current[0] = card


_torch.npu = types.SimpleNamespace(
    device_count=_device_count, set_device=_set_device, synchronize=lambda: None, mem_get_info=lambda card: (60 * 2**30, 64 * 2**30)
)


def npu_fused_infer_attention_score(query: Any, key: Any, value: Any, num_heads: int, input_layout: str, scale: float) -> tuple[Any, Any]:
    assert input_layout == "BNSD" and query.shape[1] == num_heads and math.isclose(scale, query.shape[-1] ** -0.5)
    return _torch.nn.functional.scaled_dot_product_attention(query, key, value), None


def npu_trans_quant_param(scale: Any) -> Any:
    return scale


def npu_quant_matmul(left: Any, right: Any, scale: Any, output_dtype: Any) -> Any:
    return ((left.int() @ right.int()).float() * scale).to(output_dtype)
