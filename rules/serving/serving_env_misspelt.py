"""Variables whose name is a slip of the pen away from one that is read."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

from doctor.facts.target import Environment
from doctor.finding import Confidence, Evidence, Hit
from doctor.rulepackage import data_text


@functools.cache
def known_names() -> tuple[str, ...]:
    """Names that vLLM, vllm-ascend, torch_npu, CANN, HCCL and ATB read, of all releases."""
    table = json.loads(data_text("vllm-flags.json"))
    listed = (line for line in data_text("env_names.txt").split("\n") if line and not line.startswith("#"))
    return tuple(sorted({*listed, *table["variables"], *table["ascend_variables"]}))


PREFIXES = ("HCCL_", "ASCEND_", "PYTORCH_", "PYTHON_NPU", "VLLM_", "TASK_QUEUE", "CPU_AFFINITY", "ATB_", "LCCL_", "OMP_", "MOONCAKE_", "ACL_OP")
SLIPS = frozenset({("PYTHON", "PYTORCH"), ("PYTOCH", "PYTORCH"), ("TORCH", "PYTORCH"), ("CUDA", "RT"), ("GPU", "NPU"), ("CONFIG", "CONF")})
"""Whole words that people take for one another."""

SHORTEST = 12


def judge(environment: Environment) -> Iterator[Hit]:
    for name, value in environment.values.items():
        if name in known_names() or not name.startswith(PREFIXES):
            continue
        right = next((known for known in known_names() if same(name, known)), None)
        if right is not None and right not in environment.values:
            yield Hit(
                subject=name,
                found=f"{name}={value[:60]}",
                wanted=right,
                evidence=(Evidence(environment.source, f"{name}={value[:120]}", environment.lines.get(name, 0)),),
                confidence=Confidence.LIKELY,
                values={"wrong": name, "right": right, "value": value[:120]},
            )


def same(name: str, known: str) -> bool:
    """Whether one may have been meant by the other."""
    if name.replace("_", "") == known.replace("_", ""):
        return True
    given, wanted = name.split("_"), known.split("_")
    if len(given) == len(wanted) >= 4:
        pairs = [pair for pair in zip(given, wanted, strict=True) if pair[0] != pair[1]]
        if len(pairs) == 1 and pairs[0] in SLIPS:
            return True
    return len(name) >= SHORTEST and not any(map(str.isdigit, name)) and distance(name, known) <= (2 if len(name) > 13 else 1)


def distance(one: str, other: str) -> int:
    """Edit distance; 3 where it is more than 2."""
    if abs(len(one) - len(other)) > 2:
        return 3
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, wanted in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (char != wanted))
    return min(row[-1], 3)
