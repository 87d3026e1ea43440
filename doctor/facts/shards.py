"""The weight files of a model's folder: what each header declares, against the files and against the index.

Contract: reads at most `MOST_SHARDS` files and `MOST_HEADER_BYTES` of their headers, never the weights themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field

from doctor.facts.safetensors import LENGTH_BYTES, START_BYTES, Damage, Header, Tensor, header_length, parse_header
from doctor.host import MIB, Host, Unavailable
from doctor.record import dataclass
from doctor.text import clean_line

INDEX = "model.safetensors.index.json"
INDEX_LIMIT = 64 * MIB
"""Bytes; the index of a model with 90,000 tensors has 9 MB."""
MOST_SHARDS = 2000
MOST_HEADER_BYTES = 200_000_000
"""Of all headers together; those of the largest published models have 15 MB."""


@dataclass(frozen=True)
class Index:
    """model.safetensors.index.json: tensor -> file, and the size of all tensors in bytes if it tells it."""

    weight_map: Mapping[str, str] = field(default_factory=dict)
    total_size: int | None = None
    problem: str = ""


@dataclass(frozen=True)
class Shard:
    """One safetensors file. `size` in bytes; `damage` None where the file is as its header says; `unread` why it was not looked at."""

    name: str
    size: int
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    damage: Damage | None = None
    detail: str = ""
    unread: str = ""
    sha256: str = ""
    """Of the whole file, where it was asked for."""
    hub_sha256: str = ""
    """What the hub told when the file was downloaded."""

    def __str__(self) -> str:
        return f"{self.name} {self.damage.value if self.damage else ''}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Shards:
    """All safetensors files of a model, those that the index names but that are not there included."""

    shards: tuple[Shard, ...] = ()
    index: Index | None = None
    partial: tuple[str, ...] = ()
    """Leftovers of downloads that did not end (`*.incomplete`, `*.aria2`), by their path in the folder."""

    @property
    def damaged(self) -> tuple[Shard, ...]:
        return tuple(shard for shard in self.shards if shard.damage is not None)

    @property
    def complete(self) -> bool:
        """Whether every file was read and is whole, so that what is in no header is not in the model."""
        return bool(self.shards) and not any(shard.damage or shard.unread for shard in self.shards)

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        return {name: tensor for shard in self.shards for name, tensor in shard.tensors.items()}

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(tensor.size for shard in self.shards for tensor in shard.tensors.values())

    @property
    def missing_tensors(self) -> tuple[tuple[str, str], ...]:
        """(tensor, file) of the index where the file is whole but does not hold the tensor."""
        if self.index is None:
            return ()
        held = {shard.name: shard.tensors for shard in self.shards if shard.damage in (None, Damage.TRAILING) and not shard.unread}
        return tuple((name, file) for name, file in self.index.weight_map.items() if file in held and name not in held[file])


def parse_index(text: str) -> Index:
    """The index; names with a folder in them are kept, since they name nothing in this one and so are missing."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return Index(problem="it is not JSON")
    table = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(table, dict):
        return Index(problem="it has no weight_map")
    metadata = found.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    weight_map = {clean_line(name): clean_line(file)[:300] for name, file in table.items() if isinstance(file, str)}
    # Some tools write it as a float.
    size = int(total) if isinstance(total, int | float) and 0 <= total < 2**60 else None
    return Index(weight_map, size)


def read_shards(host: Host, folder: str, files: Mapping[str, int], partial: tuple[str, ...] = ()) -> Shards:
    """The weight files among `files` (name -> size) of the folder."""
    index: Index | None = None
    if INDEX in files:
        text = host.read(f"{folder}/{INDEX}", INDEX_LIMIT)
        index = Index(problem=f"it cannot be read: {text.why.value}") if isinstance(text, Unavailable) else parse_index(text)
    names = {name for name in files if name.endswith(".safetensors")}
    wanted = set(index.weight_map.values()) if index else set()
    if index and wanted:
        # consolidated.safetensors and the like lie beside the files of the index and are not loaded.
        names &= wanted
    return Shards(tuple(_shards(host, folder, files, sorted(names | wanted))), index, partial)


def _shards(host: Host, folder: str, files: Mapping[str, int], names: list[str]) -> Iterator[Shard]:
    budget = MOST_HEADER_BYTES
    for position, name in enumerate(names):
        if name not in files:
            yield Shard(name, 0, damage=Damage.MISSING)
            continue
        size = files[name]
        if position >= MOST_SHARDS or budget <= 0:
            yield Shard(name, size, unread="too many headers")
            continue
        header = _header(host, f"{folder}/{name}", size)
        if isinstance(header, Unavailable):
            yield Shard(name, size, unread=f"{header.why.value} {header.detail}".strip())
            continue
        budget -= header.end - max((tensor.end for tensor in header.tensors.values()), default=0)
        yield Shard(name, size, header.tensors, header.damage, header.detail)


def _header(host: Host, path: str, size: int) -> Header | Unavailable:
    start = host.read_raw(path, START_BYTES)
    if isinstance(start, Unavailable):
        return start
    length = header_length(start, size)
    if isinstance(length, Header):
        return length
    data = host.read_raw(path, length, LENGTH_BYTES)
    if isinstance(data, Unavailable):
        return data
    return parse_header(data, size)


__all__ = ["INDEX", "Index", "Shard", "Shards", "parse_index", "read_shards"]
