"""The method that config.json names against what the installed release runs on the NPU."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.facts.target import Packages
from doctor.finding import Confidence, Hit
from doctor.versions import Scheme, satisfies

from .served import about

SINCE = {"ascend": "0.7.0", "compressed-tensors": "0.12.0rc1", "fp8": "0.21.0rc1", "deepseek_v4_fp8": "0.21.0rc1"}
"""First release of vllm-ascend that lists the method; vllm_ascend/platform.py of each tag."""
NEVER = ("awq", "gptq", "gguf", "bitsandbytes", "mxfp4", "aqlm", "hqq", "torchao", "experts_int8", "quark", "auto-round")
"""Made for other hardware: in no release up to 0.23.0."""
LAST_KNOWN = "<0.24"


def judge(models: Models | None, packages: Packages | None) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend") if packages else None
    for model in models.models if models else ():
        config = model.folder.config
        method = config.quant_method if config else None
        if not method or model.folder.quantization == "ascend":
            continue
        known = release is not None and bool(satisfies(release, LAST_KNOWN, Scheme.PACKAGE))
        first = SINCE.get(method)
        too_old = release is not None and first is not None and bool(satisfies(release, f"<{first}", Scheme.PACKAGE))
        if too_old or method in NEVER:
            found = f"quant_method {method} with vllm-ascend {release or 'of unknown release'}"
            sure = Confidence.SURE if too_old or known else Confidence.POSSIBLE
            yield about(model, "config.json", found, "BF16 weights, or weights quantised by msModelSlim", confidence=sure, values={"method": method})
