"""A logits processor that keeps references: the leak that test_vllm.py injects. Loaded by vLLM, never by the tests themselves."""

from __future__ import annotations

from typing import Any

from vllm.v1.sample.logits_processor.interface import LogitsProcessor  # type: ignore[import-not-found]


class Leaking(LogitsProcessor):  # type: ignore[misc]
    """Keeps 100 kB a step: enough to be seen on a slow machine too."""

    kept: list[bytearray] = []

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        pass

    def is_argmax_invariant(self) -> bool:
        return True

    def update_state(self, batch_update: Any) -> None:
        pass

    def apply(self, logits: Any) -> Any:
        self.kept.append(bytearray(100_000))
        return logits
