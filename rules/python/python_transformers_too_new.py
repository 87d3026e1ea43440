"""transformers above the upper bound of the installed vllm-ascend release."""

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
    pin = pin_of(release)
    if pin is None:
        return
    exact = pin.startswith("==")
    # An exact pin is a lower bound as well: only what lies above it is this rule's.
    if exact and satisfies(installed, f">{pin[2:]}", Scheme.PACKAGE):
        close = minor(installed) == minor(pin[2:])
        yield _hit(packages, installed, pin, Severity.NOTE if close else Severity.WARN)
    for part in (part.strip() for part in pin.split(",")):
        if part.startswith("<") and satisfies(installed, part, Scheme.PACKAGE) is False:
            yield _hit(packages, installed, part, Severity.FAIL if part == "<5" else Severity.WARN)


def _hit(packages: Packages, installed: str, pin: str, severity: Severity) -> Hit:
    return Hit(
        found=f"transformers {installed}",
        wanted=f"transformers{pin}",
        evidence=(Evidence(packages.source, f"transformers {installed}", packages.lines.get("transformers", 0)),),
        confidence=Confidence.LIKELY,
        severity=severity,
        values={"pin": pin},
    )
