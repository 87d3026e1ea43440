"""Operators on every card, compared with the same on the CPU in fp32 or wider, and timed.

job: device, torch_device, cards, family (chip), size (of matrices), should ([TFLOP/s, GB/s or null], or []).
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

TOLERANCE = {"float32": 2e-3, "float16": 1e-2, "bfloat16": 6e-2}
"""Greatest relative difference (to the greatest value of the reference). The cube unit may compute fp32 with fewer bits (HF32), bf16 has 8."""
SEQUENCE, HEADS, HEAD = 128, 8, 64
SECONDS = 0.4
"""How long a measurement repeats."""


def run(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("import torch")
    torch = importlib.import_module("torch")
    torch_npu = None
    if job["device"] == "npu":
        say.stage("import torch_npu")
        torch_npu = importlib.import_module("torch_npu")
    for card in job["cards"] if job["device"] == "npu" else [0]:
        _Card(say, torch, torch_npu, job, card).all()


class _Card:
    """The operators on one card."""

    def __init__(self, say: Any, torch: Any, torch_npu: Any, job: Mapping[str, Any], card: int) -> None:
        self.say, self.torch, self.torch_npu, self.job = say, torch, torch_npu, job
        self.place = "cpu" if job["torch_device"] == "cpu" else f"{job['torch_device']}:{card}"
        self.subject = f"{job['device']}:{card}"
        self.draw = torch.Generator(device="cpu").manual_seed(7)
        self.types = ["float32", "float16"] + ([] if job["family"] == "310p" else ["bfloat16"])
        if torch_npu is not None:
            torch.npu.set_device(card)

    def all(self) -> None:
        for dtype in self.types:
            self._matmul(dtype)
        self._int8()
        for dtype in self.types[1:]:
            self._small(dtype)
            self._attention(dtype)
        self._flash_attention()
        self._speed()

    def _random(self, *shape: int) -> Any:
        return self.torch.randn(*shape, generator=self.draw, dtype=self.torch.float32)

    def _compare(self, name: str, dtype: str, computed: Callable[[Sequence[Any]], Any], reference: Callable[[Sequence[Any]], Any], inputs: Sequence[Any]) -> None:
        """Both get the inputs rounded to the type, so that only the computing differs."""
        say, torch = self.say, self.torch
        say.stage(f"{name} {dtype} on {self.subject}")
        rounded = [each.to(getattr(torch, dtype)) for each in inputs]
        wanted = reference([each.float() for each in rounded])
        got = computed([each.to(self.place) for each in rounded]).to("cpu").float()
        self._sync()
        scale = float(wanted.abs().max()) or 1.0
        off = float((got - wanted).abs().max()) / scale if got.shape == wanted.shape else math.inf
        good = math.isfinite(off) and off <= TOLERANCE[dtype]
        say.check(f"{name} {dtype}", good, f"differs by {off:.2g} of the greatest value, {TOLERANCE[dtype]:.2g} are allowed", self.subject)

    def _matmul(self, dtype: str) -> None:
        self._compare("matmul", dtype, lambda two: two[0] @ two[1], lambda two: two[0].double().mm(two[1].double()).float(), [self._random(256, 512), self._random(512, 384)])

    def _small(self, dtype: str) -> None:
        torch, functional = self.torch, self.torch.nn.functional
        self._compare("softmax", dtype, lambda one: one[0].softmax(-1), lambda one: one[0].softmax(-1), [self._random(64, 1000)])
        self._compare("layer norm", dtype, lambda one: functional.layer_norm(one[0], (512,)), lambda one: functional.layer_norm(one[0], (512,)), [self._random(64, 512)])
        angles = torch.outer(torch.arange(SEQUENCE, dtype=torch.float32), 10000.0 ** (-torch.arange(0, HEAD, 2, dtype=torch.float32) / HEAD))
        cosine, sine = torch.cat((angles, angles), -1).cos(), torch.cat((angles, angles), -1).sin()

        def rotary(three: Sequence[Any]) -> Any:
            values, cos, sin = three
            return values * cos + torch.cat((-values[..., HEAD // 2 :], values[..., : HEAD // 2]), -1) * sin

        self._compare("rotary", dtype, rotary, rotary, [self._random(HEADS, SEQUENCE, HEAD), cosine, sine])

    def _int8(self) -> None:
        """Integers, so small that every sum fits fp16, which is what the NPU's quantised matmul gives."""
        say, torch = self.say, self.torch
        left = torch.randint(-8, 8, (128, 256), generator=self.draw, dtype=torch.int8)
        right = torch.randint(-8, 8, (256, 64), generator=self.draw, dtype=torch.int8)
        wanted = (left.int() @ right.int()).float()
        say.stage(f"matmul int8 on {self.subject}")
        if self.torch_npu is None:
            got = left.to(self.place).int() @ right.to(self.place).int()
        elif hasattr(self.torch_npu, "npu_quant_matmul") and hasattr(self.torch_npu, "npu_trans_quant_param"):
            scale = self.torch_npu.npu_trans_quant_param(torch.ones(right.shape[1], dtype=torch.float32).to(self.place))
            got = self.torch_npu.npu_quant_matmul(left.to(self.place), right.to(self.place), scale, output_dtype=torch.float16)
        else:
            say.note("matmul int8", "this torch_npu has no npu_quant_matmul")
            return
        off = float((got.to("cpu").float() - wanted).abs().max() / wanted.abs().max())
        say.check("matmul int8", off <= TOLERANCE["float16"], f"differs by {off:.2g} of the greatest value", self.subject)

    def _attention(self, dtype: str) -> None:
        """The operator that vLLM uses on this chip; elsewhere PyTorch's."""
        functional = self.torch.nn.functional
        name, compute = self._chosen_attention()

        def reference(three: Sequence[Any]) -> Any:
            scores = three[0] @ three[1].transpose(-1, -2) / math.sqrt(HEAD)
            return scores.softmax(-1) @ three[2]

        inputs = [self._random(1, HEADS, SEQUENCE, HEAD) for _ in range(3)]
        self._compare(name, dtype, compute or (lambda three: functional.scaled_dot_product_attention(*three)), reference, inputs)

    def _chosen_attention(self) -> tuple[str, Callable[[Sequence[Any]], Any] | None]:
        npu = self.torch_npu
        scale = 1.0 / math.sqrt(HEAD)
        if npu is None:
            return "scaled_dot_product_attention", None
        if self.job["family"] == "310p" or not hasattr(npu, "npu_fused_infer_attention_score"):
            if not hasattr(npu, "npu_prompt_flash_attention"):
                self.say.note("attention", "this torch_npu has neither npu_fused_infer_attention_score nor npu_prompt_flash_attention")
                return "scaled_dot_product_attention", None
            return "npu_prompt_flash_attention", lambda three: npu.npu_prompt_flash_attention(
                *three, num_heads=HEADS, input_layout="BNSD", scale_value=scale, pre_tokens=65535, next_tokens=65535
            )  # its default for next_tokens is 0, a causal mask
        return "npu_fused_infer_attention_score", lambda three: npu.npu_fused_infer_attention_score(*three, num_heads=HEADS, input_layout="BNSD", scale=scale)[0]

    def _flash_attention(self) -> None:
        """flash-attn-npu, where it is installed beside torch_npu: [batch, sequence, heads, head]."""
        if self.torch_npu is None or importlib.util.find_spec("flash_attn_npu") is None:
            return
        flash = importlib.import_module("flash_attn_npu")
        compute = getattr(flash, "flash_attn_func", None)
        if compute is None:
            self.say.note("flash-attn-npu", "has no flash_attn_func")
            return

        def reference(three: Sequence[Any]) -> Any:
            query, key, value = (each.transpose(1, 2) for each in three)
            return ((query @ key.transpose(-1, -2) / math.sqrt(HEAD)).softmax(-1) @ value).transpose(1, 2)

        self._compare("flash_attn_func", "float16", lambda three: compute(*three), reference, [self._random(1, SEQUENCE, HEADS, HEAD) for _ in range(3)])

    def _speed(self) -> None:
        """Dense matmul and copying within the device's memory."""
        say, torch, size = self.say, self.torch, self.job["size"]
        dtype = "float16" if self.torch_npu is not None else "float32"
        compute, memory = self.job["should"] or (None, None)
        say.stage(f"speed of matmul on {self.subject}")
        left = self._random(size, size).to(getattr(torch, dtype)).to(self.place)
        say.figure(f"matmul {dtype} {size}", round(2 * size**3 * self._rate(lambda: left @ left) / 1e12, 4), "TFLOP/s", self.subject, compute)
        say.stage(f"speed of memory on {self.subject}")
        source = torch.zeros(size * size * 4, dtype=torch.float32).to(self.place)
        target = torch.empty_like(source)
        size_bytes = 2 * source.numel() * source.element_size()
        say.figure("copy in memory", round(size_bytes * self._rate(lambda: target.copy_(source)) / 1e9, 2), "GB/s", self.subject, memory)

    def _rate(self, once: Callable[[], Any]) -> float:
        """Times a second, after a first time that may compile."""
        once()
        self._sync()
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS and count < 1000:
            for _ in range(5):
                once()
            self._sync()
            count += 5
        return count / (time.perf_counter() - start)

    def _sync(self) -> None:
        if self.torch_npu is not None:
            self.torch.npu.synchronize()
