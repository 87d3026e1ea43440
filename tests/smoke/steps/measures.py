"""A step that measures the cards as it is told: job["rates"] in TFLOP/s by card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def run(say: Any, job: Mapping[str, Any]) -> None:
    for card, rate in job["rates"].items():
        say.figure("matmul float16 4096", rate, "TFLOP/s", card, None)
