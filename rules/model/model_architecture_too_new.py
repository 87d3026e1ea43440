"""The model's architecture against the registry of the installed vLLM."""

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

FIRST = {
    "Qwen3ForCausalLM": "0.8.4", "Qwen3MoeForCausalLM": "0.8.4", "Qwen2_5_VLForConditionalGeneration": "0.7.2", "Llama4ForConditionalGeneration": "0.8.3",
    "Gemma3ForConditionalGeneration": "0.8.0", "Glm4MoeForCausalLM": "0.10.0", "GptOssForCausalLM": "0.10.1", "Qwen3NextForCausalLM": "0.10.2",
    "DeepseekV32ForCausalLM": "0.11.0", "Qwen3VLForConditionalGeneration": "0.11.0", "Qwen3VLMoeForConditionalGeneration": "0.11.0",
}  # fmt: skip
"""The vLLM with which an architecture came, where the registry itself is not at hand."""


def judge(models: Models | None, registry: Registry | None, packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        config = model.folder.config
        names = config.architectures if config else ()
        if registry is None and config is not None and packages is not None:
            version = compat.public(packages.versions.get("vllm", ""))
            late = [(name, FIRST[name]) for name in names if name in FIRST and version and compare(version, FIRST[name], Scheme.PACKAGE) == -1]
            if late and len(late) == len(names):
                found = f"{late[0][0]} came with vLLM {late[0][1]}, installed is {version}"
                yield about(model, "config.json", found, f"vLLM {late[0][1]} or newer", confidence=Confidence.LIKELY)
                return
        if config is None or registry is None or not names or "auto_map" in config.values or any(name in dict(registry.removed) for name in names):
            continue
        if not any(name in registry.known for name in names):
            found = f"{', '.join(names[:3])} is not in the registry of the installed vLLM"
            yield about(model, "config.json", found, "a vLLM that has it", confidence=Confidence.LIKELY)
            return
