"""Weight files against their headers, their sizes and the index."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Model, Models, setting
from doctor.facts.shards import INDEX
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from .served import about, listed, served

COMPLETE_SHARE = 0.99
"""Share of the index' total_size below which something must be missing; tools count shared tensors differently."""


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        yield from _judge(model)


def _judge(model: Model) -> Iterator[Hit]:
    shards = model.shards
    other = tuple(shard.name for shard in shards.shards if shard.sha256 and shard.hub_sha256 and shard.sha256 != shard.hub_sha256)
    if other:
        found = f"{len(other)} weight files have another content than the hub told: {listed(other)}"
        yield about(model, other[0], found, "the SHA-256 that the hub told", values={"files": listed(other)})
    if shards.damaged:
        bad = tuple(str(shard) for shard in shards.damaged)
        found = f"{len(bad)} of {len(shards.shards)} weight files are not whole: {listed(bad)}"
        yield about(model, shards.damaged[0].name, found, "every file of the index in full length", values={"files": listed(bad)})
    elif shards.index is not None and shards.index.problem:
        yield about(model, INDEX, f"{INDEX} cannot be used: {shards.index.problem}", "an index with a weight_map")
    elif not model.folder.weights and model.folder.config is not None and setting(model.command, "load-format") != "dummy":
        yield about(model, "config.json", "config.json is there, but no weight file", "*.safetensors")
    elif shards.partial:
        found = f"leftovers of a download: {listed(shards.partial)}"
        yield about(model, shards.partial[0], found, "a download that ended", Severity.WARN, Confidence.LIKELY)
    elif shards.complete and shards.index and shards.index.total_size and shards.size < COMPLETE_SHARE * shards.index.total_size:
        found = f"the tensors have {shards.size} bytes, the index tells {shards.index.total_size}"
        yield about(model, INDEX, found, "the size that the index tells", Severity.WARN, Confidence.LIKELY)
