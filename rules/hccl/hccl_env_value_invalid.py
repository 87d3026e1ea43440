"""Compares the HCCL variables of the target with the ranges that HCCL accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from doctor.facts.npu import Chip
from doctor.facts.target import Environment
from doctor.finding import Evidence, Hit, Skip

RANGES: Mapping[str, tuple[int, int]] = {
    "HCCL_CONNECT_TIMEOUT": (120, 7200),
    "HCCL_BUFFSIZE": (1, 2**31 - 1),
    "HCCL_IF_BASE_PORT": (1024, 65520),
    "HCCL_RDMA_SL": (0, 7),
    "HCCL_RDMA_RETRY_CNT": (1, 7),
    "HCCL_WHITELIST_DISABLE": (0, 1),
}
"""Name -> lowest and highest value (HCCL's reference of environment variables, CANN 9)."""
EXEC_TIMEOUT, LIMITED_EXEC_TIMEOUT = (0, 2**31 - 1), (1, 17340)
"""HCCL_EXEC_TIMEOUT in seconds: on A2, A3 and 950, and on the older chips, which do not take 0."""
RDMA_TIMEOUT = (5, 20)
"""HCCL_RDMA_TIMEOUT on A2 and A3; the older A1 takes up to 24, 950 has no RoCE of its own."""


def judge(environment: Environment, chip: Chip | None) -> Iterator[Hit]:
    ranges = {**RANGES, **_by_chip(chip)}
    looked = [name for name in ranges if name in environment.values]
    if not looked and not environment.complete:
        raise Skip("the text names no HCCL variable")
    for name in looked:
        value = environment.values[name]
        if not _plain(value) or _inside(value, *ranges[name]):
            continue
        low, high = ranges[name]
        yield Hit(
            subject=name,
            found=f"{name} is {value[:60]}",
            wanted=f"a whole number from {low} to {high}",
            evidence=(Evidence(environment.source, f"{name}={value[:200]}", environment.lines.get(name, 0)),),
            values={"name": name, "value": value[:60]},
        )


def _by_chip(chip: Chip | None) -> Mapping[str, tuple[int, int]]:
    family = chip.family if chip else ""
    if family in ("310p", "310", "a1"):
        return {"HCCL_EXEC_TIMEOUT": LIMITED_EXEC_TIMEOUT}
    return {"HCCL_EXEC_TIMEOUT": EXEC_TIMEOUT, **({"HCCL_RDMA_TIMEOUT": RDMA_TIMEOUT} if family in ("a2", "a3") else {})}


def _plain(value: str) -> bool:
    """Whether it is a value and not a reference to another variable or a placeholder of a guide."""
    return bool(value) and not re.search(r"[$<>{}\[\]…]|\.\.\.|x{2}|X{2}", value[:200])


def _inside(value: str, low: int, high: int) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= 12 and low <= int(value) <= high
