"""Measures time against size: whatever grows is linear or better."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.inputs import large_log
from benchmarks.measuring import Promise, in_turn, one_core, sample


def growing(_python: str, doctor: str, folder: Path, runs: int, megabytes: int) -> Iterator[Promise]:
    """Time against size: ten times the log takes at most ten times as long."""
    small, large = folder / "tenth.log", folder / "whole.log"
    large_log(small, max(1, megabytes // 10))
    large_log(large, max(10, megabytes))
    little, much = in_turn([lambda: sample([doctor, "log", str(small)], one_core), lambda: sample([doctor, "log", str(large)], one_core)], runs)
    yield Promise("ten times the log / the log", much.seconds / little.seconds, 10)
