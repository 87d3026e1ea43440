"""msModelSlim's weights that a release without auto-detection is to serve without --quantization ascend."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, setting
from doctor.facts.target import Packages
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches
from doctor.versions import Scheme, satisfies

from .served import about, served

BLIND = ("<0.15.0rc1", "==0.16.0rc1")
"""Releases of vllm-ascend that do not look for the description by themselves."""


def judge(models: Models | None, packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend") if packages else None
    blind = None if release is None else any(satisfies(release, span, Scheme.PACKAGE) for span in BLIND)
    for model in served(models, matches):
        description = model.folder.description
        kind = description.main_type if description else None
        if kind and model.command and setting(model.command, "quantization") is None and blind is not False:
            found = f"{kind} weights without --quantization, vllm-ascend {release or 'of unknown release'}"
            sure = (None, Confidence.SURE) if blind else (Severity.WARN, Confidence.POSSIBLE)
            yield about(model, "", found, "--quantization ascend", *sure)
