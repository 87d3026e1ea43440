"""triton-ascend against the row of the installed vllm-ascend, and errors of importing it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of
from doctor.versions import Scheme, satisfies

USED_SINCE = ">= 0.13.0rc2"
"""Earlier releases of vllm-ascend say that Triton is missing and go on."""


def judge(matches: Matches, packages: Packages | None, chip: Chip | None) -> Iterator[Hit]:
    if chip is not None and chip.family == "310p":
        raise Skip("a 310P uses no Triton")
    release = packages.versions.get("vllm-ascend") if packages else None
    row = compat.release(release) if release else None
    values = {"row_triton_ascend": row.triton_ascend} if row and row.triton_ascend else {}
    yield from _logged(matches, release, values)
    if packages is None or row is None or row.triton_ascend is None:
        return
    installed = packages.versions.get("triton-ascend")
    if installed is None and not packages.complete:
        return
    if installed is None or compat.triton_ascend_matches(row, installed) is False:
        text = f"triton-ascend {installed or 'is not installed'}"
        yield Hit(
            found=f"{text} with vllm-ascend {release}",
            wanted=row.triton_ascend,
            evidence=(Evidence(packages.source, text, packages.lines.get("triton-ascend", 0)),),
            values=values,
        )


def _logged(matches: Matches, release: str | None, values: dict[str, str]) -> Iterator[Hit]:
    failed, warned = matches["failed"], matches["warned"]
    if failed:
        yield Hit(
            found=failed[0].text[:200],
            evidence=(evidence_of(failed),),
            severity=Severity.FAIL,
            confidence=Confidence.LIKELY,
            values=values,
            basis=Basis.LOG,
            position=failed[0].ordinal + 1,
        )
    elif warned:
        used = release is not None and satisfies(release, USED_SINCE, Scheme.PACKAGE) is True
        yield Hit(
            found=warned[0].text[:200],
            evidence=(evidence_of(warned),),
            severity=Severity.WARN if used else Severity.NOTE,
            confidence=Confidence.LIKELY,
            values=values,
            basis=Basis.LOG,
            position=warned[0].ordinal + 1,
        )
