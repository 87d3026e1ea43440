"""--quantization against the method that config.json names."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, setting
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from .served import about, served

_KERNELS = {"gptq": ("gptq_marlin", "marlin"), "awq": ("awq_marlin", "marlin"), "fp8": ("deepseek_v4_fp8",), "modelopt": ("modelopt_fp4", "modelopt_mxfp8")}
"""Names of kernels that read the weights of a method, too."""


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        config = model.folder.config
        own, given = config.quant_method if config else None, setting(model.command, "quantization")
        if config is None or not given or given == own or (given == "ascend" and model.folder.description is not None):
            continue
        if own and given not in _KERNELS.get(own, ()):
            values = {"own": own, "given": given}
            yield about(model, "", f"--quantization {given}, but config.json says {own}", f"no flag, or {own}", values=values)
        elif given == "compressed-tensors" and not own and not config.problem:
            found = "--quantization compressed-tensors, but config.json has no quantization_config"
            yield about(model, "", found, "weights of that format", values={"own": "none", "given": given})
