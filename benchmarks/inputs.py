"""The inputs of the benchmark: logs of a healthy server (vLLM and plog lines) with faults at known places, the same text in every run."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

SEED = 20240910
SMALL = 100_000
"""Bytes of a small log."""

HEALTHY = (
    "INFO {month:02}-{day:02} {hour:02}:{minute:02}:{second:02} [loggers.py:118] Engine 000: Avg prompt throughput: {a}.{b} tokens/s, Running: {e} reqs",
    'INFO:     127.0.0.1:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    "[INFO] RUNTIME({pid},python3):2025-{month:02}-{day:02}-{hour:02}:{minute:02}:{second:02}.{micro:06} [stream.cc:{a}] stream synchronized",
)
FAULT = "(EngineCore_DP0 pid=775) ERROR RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)\n"
BLOCK = 1_000_000
"""Bytes of healthy lines that large logs repeat."""


def healthy(size: int, seed: int = SEED) -> Iterator[str]:
    """Healthy lines, `size` bytes or a little more."""
    draw = random.Random(seed)
    while size > 0:
        numbers = {name: draw.randint(1, 9) for name in "abcdef"}
        moment = {"month": draw.randint(1, 12), "day": draw.randint(1, 28), "hour": draw.randint(0, 23), "minute": draw.randint(0, 59)}
        rest = {"second": draw.randint(0, 59), "micro": draw.randint(0, 999_999), "port": draw.randint(32768, 60999), "pid": draw.randint(2, 99_999)}
        line = draw.choice(HEALTHY).format(**numbers, **moment, **rest) + "\n"
        size -= len(line)
        yield line


def small_log(path: Path) -> None:
    """One fault in the middle."""
    lines = list(healthy(SMALL))
    lines.insert(len(lines) // 2, FAULT)
    path.write_text("".join(lines), encoding="utf-8")


def large_log(path: Path, megabytes: int) -> None:
    """Few matches: one fault at the start and one at the end."""
    block = "".join(healthy(BLOCK)).encode()
    with path.open("wb") as file:
        file.write(FAULT.encode())
        for _ in range(megabytes):
            file.write(block)
        file.write(FAULT.encode())


def faulty_log(path: Path, megabytes: int) -> None:
    """Every hundredth line is a fault."""
    lines = list(healthy(BLOCK))
    lines[::100] = [FAULT] * len(lines[::100])
    block = "".join(lines).encode()
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(block)


def many_files(folder: Path, megabytes: int, count: int) -> None:
    """The healthy lines in `count` files."""
    folder.mkdir()
    size = megabytes * BLOCK // count
    block = "".join(healthy(size)).encode()
    for number in range(count):
        (folder / f"plog-{number:04}.log").write_bytes(block)


def compressed(plain: Path) -> tuple[Path, Path]:
    """The log as gzip and as zstd."""
    import zstandard

    as_gzip, as_zstd = plain.with_suffix(".log.gz"), plain.with_suffix(".log.zst")
    with plain.open("rb") as source, gzip.open(as_gzip, "wb", compresslevel=1) as target:
        while block := source.read(BLOCK):
            target.write(block)
    with plain.open("rb") as source, as_zstd.open("wb") as target:
        zstandard.ZstdCompressor(level=1).copy_stream(source, target)
    return as_gzip, as_zstd
