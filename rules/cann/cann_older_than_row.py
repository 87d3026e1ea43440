"""The CANN in use against that of the installed vllm-ascend release: is it older?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip, NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, compare

_WINDOW = ("8.0.RC2", "8.3.RC1")
"""torch_npu 2.5 to 2.7 tolerates every CANN between these (the Ascend extension's releases 6.0.0 to 7.2.0)."""


def judge(cann: Cann, packages: Packages, chip: Chip | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    release = packages.versions.get("vllm-ascend")
    if cann.version is None or release is None:
        raise Skip("the versions of CANN and of vllm-ascend are not both known")
    exact = compat.release(release)
    row = exact or compat.nearest(release)
    if row is None:
        raise Skip(f"vllm-ascend {release} is no known release")
    family = chip.family if chip else None
    wanted = row.cann_for(family)
    order = compare(cann.version, wanted, Scheme.CANN)
    if order is None:
        raise Skip(f"CANN {cann.version} cannot be compared")
    too_old_for_all = compare(cann.version, compat.releases()[0].cann, Scheme.CANN) == -1
    if order >= 0 or (compat.cann_matches(row, cann.version, family) and not too_old_for_all):
        return
    lower_line = compat.line(cann.version) != compat.line(wanted)
    if exact is None and not lower_line:
        return  # a development build or a shortened name: its own patch release is not known
    # Versions that a text names need not be those that ran: an error in the same text may have another cause.
    fail = cann.active_by != "text" and (too_old_for_all or (lower_line and not _tolerated(cann.version, row)))
    installed = next((one for one in cann.installs if compat.cann_matches(row, one.version, family)), None)
    yield Hit(
        found=f"CANN {cann.version} with vllm-ascend {release}",
        wanted=f"CANN {wanted}" + (f", which is installed in {installed.path}" if installed else ""),
        evidence=(
            Evidence(cann.source or "CANN", f"CANN {cann.version}", cann.line),
            Evidence(packages.source or "packages", f"vllm-ascend {release}", packages.lines.get("vllm-ascend", 0)),
        ),
        severity=Severity.FAIL if fail else Severity.WARN,
        confidence=Confidence.SURE if exact else Confidence.LIKELY,
        values={"row_cann": wanted, "row_toolkit": installed.path if installed else f"/usr/local/Ascend/cann-{wanted}", "hdk_minimum": _minimum(wanted, family)},
    )


def _tolerated(cann: str, row: compat.Release) -> bool:
    era = row.torch_npu.startswith(("2.5.", "2.6.", "2.7."))
    return era and compare(cann, _WINDOW[0], Scheme.CANN) in (0, 1) and compare(cann, _WINDOW[1], Scheme.CANN) in (-1, 0)


def _minimum(cann: str, family: str | None) -> str:
    found = compat.hdk_minimum(cann, family or "")
    return found[0] if found else ""
