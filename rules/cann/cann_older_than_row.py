"""The CANN in use against that of the installed vllm-ascend release: is it older?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip, NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Hit, Severity
from doctor.versions import Scheme, compare

from ._row import paired


def judge(cann: Cann, packages: Packages, chip: Chip | None, presence: NpuPresence | None) -> Iterator[Hit]:
    pair = paired(cann, packages, chip, presence)
    too_old_for_all = compare(pair.version, compat.releases()[0].cann, Scheme.CANN) == -1
    if pair.order >= 0 or (pair.matches and not too_old_for_all):
        return
    if not pair.exact and not pair.other_line:
        return  # a development build or a shortened name: its own patch release is not known
    # Versions that a text names need not be those that ran: an error in the same text may have another cause.
    fail = cann.active_by != "text" and (too_old_for_all or (pair.other_line and not _tolerated(pair.version, pair.row)))
    installed = next((one for one in cann.installs if compat.cann_matches(pair.row, one.version, pair.family)), None)
    toolkit = installed.path if installed else f"/usr/local/Ascend/cann-{pair.wanted}"
    yield Hit(
        found=pair.found,
        wanted=f"CANN {pair.wanted}" + (f", which is installed in {installed.path}" if installed else ""),
        evidence=pair.evidence,
        severity=Severity.FAIL if fail else Severity.WARN,
        confidence=pair.confidence,
        values={"row_cann": pair.wanted, "row_toolkit": toolkit, "hdk_minimum": _minimum(pair.wanted, pair.family)},
    )


def _tolerated(cann: str, row: compat.Release) -> bool:
    first, last = compat.TOLERANT_TORCH_NPU
    era = row.torch_npu.startswith(("2.5.", "2.6.", "2.7."))
    return era and compare(cann, first, Scheme.CANN) in (0, 1) and compare(cann, last, Scheme.CANN) in (-1, 0)


def _minimum(cann: str, family: str | None) -> str:
    found = compat.hdk_minimum(cann, family or "")
    return found[0] if found else ""
