"""Tensors that the index names but no file holds, and, without an index, what one layer lacks that its like have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from doctor.facts.model import Model, Models
from doctor.finding import Confidence, Hit
from doctor.regex import regex

from .served import about, listed

ALIKE = 0.9
"""Share of the layers of one kind that must have a part before a layer without it is wrong."""
FEWEST = 4
"""Layers of one kind below which nothing can be said."""
_LAYER = regex(r"(.*?\blayers\.)(\d{1,4})\.(.+)\.(?:weight|qweight|weight_packed)")
_MIXERS = ("linear_attn", "mamba", "conv")


def judge(models: Models) -> Iterator[Hit]:
    for model in models.models:
        missing = model.shards.missing_tensors
        if missing:
            names = tuple(f"{name} ({file})" for name, file in missing)
            found = f"{len(names)} tensors of the index are in no file: {listed(names)}"
            yield about(model, missing[0][1], found, "every tensor of the index", values={"tensors": listed(names), "file": missing[0][1]})
        elif model.shards.complete and model.shards.index is None:
            yield from _compared(model)


def _compared(model: Model) -> Iterator[Hit]:
    count = model.folder.config.number("layers") if model.folder.config else None
    gaps = tuple(missing_parts(model.shards.tensors, count))
    if gaps:
        found = f"{len(gaps)} tensors that the other layers have are missing: {listed(gaps)}"
        values = {"tensors": listed(gaps), "file": model.shards.shards[0].name}
        yield about(model, model.shards.shards[0].name, found, "the same parts in every layer of a kind", None, Confidence.LIKELY, values)


def missing_parts(tensors: Mapping[str, object], count: int | None) -> Iterator[str]:
    """Names of weights that nearly all layers of the same kind have, and one has not. `count`: layers that the configuration tells."""
    stacks: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in tensors:
        found = _LAYER.fullmatch(name)
        if found and (not count or int(found[2]) < count):
            stacks[found[1]][int(found[2])].add(found[3])
    for prefix, layers in sorted(stacks.items()):
        kinds: dict[tuple[bool, bool], list[int]] = defaultdict(list)
        for layer, parts in layers.items():
            kinds[any(".experts." in part for part in parts), any(part.startswith(_MIXERS) for part in parts)].append(layer)
        for members in kinds.values():
            held = Counter(part for layer in members for part in layers[layer])
            common = {part for part, times in held.items() if times >= ALIKE * (len(members) - 1)}
            for layer in sorted(members) if len(members) >= FEWEST else ():
                yield from (f"{prefix}{layer}.{part}.weight" for part in sorted(common - layers[layer]))
