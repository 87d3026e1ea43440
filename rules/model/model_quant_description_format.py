"""A description with the field model_quant_type, which releases before 0.13.0 take for a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.facts.target import Packages
from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches
from doctor.versions import Scheme, satisfies

from .served import about, served

FIELD = "model_quant_type"


def judge(models: Models | None, packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend") if packages else None
    for model in served(models, matches):
        description = model.folder.description
        if description and FIELD in description.other and release and satisfies(release, "<0.13.0rc1", Scheme.PACKAGE):
            found = f"{FIELD} in {description.path.rpartition('/')[2]}, vllm-ascend {release}"
            yield about(model, description.path.rpartition("/")[2], found, "vllm-ascend 0.13.0 or newer", Severity.WARN, Confidence.LIKELY)
