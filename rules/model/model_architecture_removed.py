"""The model's architecture against those that the installed vLLM says it no longer has."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.beside import Registry
from doctor.facts.model import Models
from doctor.facts.target import Packages
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches
from doctor.versions import Scheme, compare

from .served import about, served

LAST = {"BaiChuanForCausalLM": "0.23", "QWenLMHeadModel": "0.23", "InternLMForCausalLM": "0.23"}
"""The last vLLM with an architecture, where the registry itself is not at hand."""


def judge(models: Models | None, registry: Registry | None, packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    version = compat.public(packages.versions.get("vllm", "")) if packages else ""
    late = bool(version) and compare(version, "0.24.0", Scheme.PACKAGE) in (0, 1)
    gone = dict(registry.removed) if registry else LAST if late else {}
    for model in served(models, matches):
        for name in model.folder.config.architectures if model.folder.config else ():
            if name in gone:
                yield about(model, "config.json", f"{name}, which vLLM had up to {gone[name]}", "an architecture of the installed vLLM", confidence=Confidence.LIKELY)
                return
