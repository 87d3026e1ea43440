"""msModelSlim's description against the tensors that lie beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.model import Model, Models
from doctor.facts.quantisation import FLOAT, QuantDescription
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches
from doctor.regex import regex

from .served import about, listed, served

_FLOATING = ("BF16", "F16", "F32", "F64")
_KEEPS_FLOAT = regex(r"W(?:16|32)A|C\d|FAKQuant|INT8_DYNAMIC", re.IGNORECASE)
"""Types of which the weight itself stays floating: those of activations and of the KV cache."""
_LINEAR = regex(r"(?:.*\.)?(?:layers\.\d{1,4}\..*_proj|lm_head|embed_tokens)\.weight")


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        description = model.folder.description
        if description is not None:
            yield from _judge(model, description)


def _judge(model: Model, description: QuantDescription) -> Iterator[Hit]:
    file = description.path.rpartition("/")[2]
    if description.problem:
        yield about(model, file, f"{file}: {description.problem}", "msModelSlim's description of the tensors")
        return
    if not description.types or not model.shards.complete:
        return
    tensors = model.shards.tensors
    wrong = tuple(
        f"{name} is {description.tensors[name]} there and {tensor.dtype} in its file"
        for name, tensor in tensors.items()
        if name.endswith(".weight") and name in description.tensors and _contradicts(description.tensors[name], tensor.dtype)
    )
    count = model.folder.config.number("layers") if model.folder.config else None
    linear = [name for name, tensor in tensors.items() if len(tensor.shape) > 1 and _LINEAR.fullmatch(name) and not _draft(name, count)]
    told = [name for name in linear if name in description.tensors]
    lost = tuple(name for name in linear if name not in description.tensors)
    if wrong:
        found = f"{len(wrong)} tensors are not what {file} says: {listed(wrong, 3)}"
        yield about(model, file, found, "weights and description of one run of msModelSlim", values={"layer": wrong[0].split(" ")[0]})
    elif linear and not told:
        found = f"{file} names none of the weights: {next(iter(description.tensors))} there, {linear[0]} in the files"
        yield about(model, file, found, "the same names in both", confidence=Confidence.LIKELY, values={"layer": linear[0]})
    elif lost:
        found = f"{len(lost)} weights have no entry in {file}: {listed(lost, 3)}"
        yield about(model, file, found, "an entry for each of them", Severity.WARN, Confidence.LIKELY, {"layer": lost[0]})


def _contradicts(kind: str, dtype: str) -> bool:
    if kind == FLOAT:
        return dtype in ("I8", "I32")
    return dtype in _FLOATING and not _KEEPS_FLOAT.match(kind)


def _draft(name: str, count: int | None) -> bool:
    found = re.search(r"layers\.(\d+)\.", name)
    return "mtp" in name or bool(found and count and int(found[1]) >= count)
