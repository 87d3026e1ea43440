"""transformers below the lower bound of the installed vllm-ascend release."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, satisfies

from .transformers_pins import minor, pin_of


def judge(packages: Packages) -> Iterator[Hit]:
    release, installed = packages.versions.get("vllm-ascend"), packages.versions.get("transformers")
    if release is None or installed is None:
        if not packages.complete:
            raise Skip("the versions of vllm-ascend and transformers are not known")
        return
    for part in (part.strip() for part in (pin_of(release) or "").split(",")):
        lower = part.removeprefix("==").removeprefix(">=") if part.startswith(("==", ">=")) else ""
        if lower and satisfies(installed, f"<{lower}", Scheme.PACKAGE):
            close = minor(installed) == minor(lower)
            yield Hit(
                found=f"transformers {installed}",
                wanted=f"transformers{part}",
                evidence=(Evidence(packages.source, f"transformers {installed}", packages.lines.get("transformers", 0)),),
                confidence=Confidence.LIKELY,
                severity=Severity.NOTE if close else Severity.WARN,
                values={"pin": part},
            )
