"""triton-ascend against the row of the installed vllm-ascend, and errors of importing it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of


def judge(matches: Matches, packages: Packages | None, chip: Chip | None) -> Iterator[Hit]:
    if chip is not None and chip.family == "310p":
        raise Skip("a 310P uses no Triton")
    release = packages.versions.get("vllm-ascend") if packages else None
    row = compat.release(release) if release else None
    values = {"row_triton_ascend": row.triton_ascend} if row and row.triton_ascend else {}
    yield from _logged(matches, values)
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


def _logged(matches: Matches, values: dict[str, str]) -> Iterator[Hit]:
    warned = matches["warned"]
    lines = {match.ordinal for match in warned}
    failed = tuple(match for match in matches["failed"] if match.ordinal not in lines)
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
        yield Hit(
            found=warned[0].text[:200],
            evidence=(evidence_of(warned),),
            severity=Severity.NOTE,
            confidence=Confidence.LIKELY,
            values=values,
            basis=Basis.LOG,
            position=warned[0].ordinal + 1,
        )
