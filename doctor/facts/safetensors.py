"""Headers of safetensors files: eight bytes of length (little-endian), then JSON. Pure; never raises on any bytes.

Source of the format: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import field
from math import prod
from typing import Any

from doctor.record import dataclass
from doctor.text import clean_line

LENGTH_BYTES = 8
HEADER_LIMIT = 100_000_000
"""Bytes of a header that the library itself refuses to read beyond."""
MOST_TENSORS = 500_000
START_BYTES = 64
"""What is read of each file at first: the length, or enough to know a pointer of Git LFS."""
LFS_MARK = b"version https://git-lfs"
"""How a pointer of Git LFS begins, which lies where the file itself was not fetched."""

BITS: Mapping[str, int] = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8, "F4": 4,
}  # fmt: skip
"""Bits of an element, by the name that the header gives to its type."""


class Damage(enum.Enum):
    """What is wrong with a weight file; the value is how a finding says it."""

    MISSING = "is not there"
    EMPTY = "is empty"
    LFS_POINTER = "is a Git LFS pointer, not the file itself"
    HEADER_CUT = "ends inside its header"
    HEADER_LENGTH = "is no safetensors file: its first 8 bytes are no sensible length"
    HEADER_JSON = "has a header that cannot be read"
    TRUNCATED = "is cut off"
    TRAILING = "is longer than its tensors"


@dataclass(frozen=True)
class Tensor:
    """One tensor as the header declares it: type, shape, and its place in the data, in bytes after the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True)
class Header:
    """A header, or what is wrong with it. `end` is where the file ends by its header, in bytes."""

    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    end: int = 0
    damage: Damage | None = None
    detail: str = ""


def header_length(start: bytes, file_size: int) -> int | Header:
    """The length of the JSON that follows the first eight bytes, or why there is none; `start` are the file's first `START_BYTES`."""
    if file_size == 0:
        return Header(damage=Damage.EMPTY)
    if start.startswith(LFS_MARK):
        return Header(damage=Damage.LFS_POINTER)
    if len(start) < LENGTH_BYTES:
        return Header(damage=Damage.HEADER_CUT, detail=f"{file_size} bytes")
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    if not 2 <= length <= HEADER_LIMIT:
        return Header(damage=Damage.HEADER_LENGTH)
    if LENGTH_BYTES + length > file_size:
        return Header(damage=Damage.HEADER_CUT, detail=f"{file_size} of at least {LENGTH_BYTES + length} bytes")
    return length


def parse_header(data: bytes, file_size: int) -> Header:
    """The header whose JSON is `data`, compared with the size of its file."""
    try:
        found: Any = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return Header(damage=Damage.HEADER_JSON, detail="not JSON")
    if not isinstance(found, dict) or len(found) > MOST_TENSORS:
        return Header(damage=Damage.HEADER_JSON, detail="no object of tensors")
    tensors: dict[str, Tensor] = {}
    for name, value in found.items():
        if name == "__metadata__":
            continue
        tensor = _tensor(value)
        if tensor is None:
            return Header(damage=Damage.HEADER_JSON, detail=f"tensor {clean_line(name)[:120]}")
        tensors[clean_line(name)] = tensor
    end = LENGTH_BYTES + len(data) + max((tensor.end for tensor in tensors.values()), default=0)
    if file_size < end:
        return Header(tensors, end, Damage.TRUNCATED, f"{file_size} of {end} bytes")
    if file_size > end:
        return Header(tensors, end, Damage.TRAILING, f"{file_size} instead of {end} bytes")
    return Header(tensors, end)


def _tensor(value: Any) -> Tensor | None:
    if not isinstance(value, dict):
        return None
    dtype, shape, offsets = value.get("dtype"), _numbers(value.get("shape")), _numbers(value.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        return None
    tensor = Tensor(clean_line(dtype)[:20], shape, offsets[0], offsets[1])
    bits = BITS.get(tensor.dtype)
    if bits is not None and (prod(shape) * bits + 7) // 8 != tensor.size:
        return None
    return tensor


def _numbers(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > 16 or not all(type(item) is int and 0 <= item < 2**60 for item in value):
        return None
    return tuple(value)


__all__ = ["BITS", "Damage", "HEADER_LIMIT", "Header", "LENGTH_BYTES", "LFS_MARK", "START_BYTES", "Tensor", "header_length", "parse_header"]
