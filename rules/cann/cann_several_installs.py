"""Several CANN versions on one disk, and which of them the target uses."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, parse


def judge(cann: Cann, packages: Packages | None, chip: Chip | None) -> Iterator[Hit]:
    if cann.active_by == "text" or not cann.installs:
        raise Skip("no toolkit is known on this disk")
    if len({_rank(install.version) for install in cann.installs}) < 2:
        return
    release = packages.versions.get("vllm-ascend") if packages else None
    row = compat.release(release) if release else None
    fitting = [one for one in cann.installs if row and compat.cann_matches(row, one.version, chip.family if chip else None)]
    used = cann.active
    wrong = bool(fitting) and used is not None and used not in fitting
    yield Hit(
        found=", ".join(f"{one.version} in {one.path}" for one in cann.installs) + (f"; in use: {used.version} (by {cann.active_by})" if used else ""),
        wanted=f"the environment of {fitting[0].path}" if wrong else "one version in use, on purpose",
        evidence=tuple(Evidence(one.source or one.path, one.version) for one in cann.installs[:6]),
        severity=Severity.WARN if wrong else None,
        values={"row_toolkit": (fitting[0] if fitting else cann.installs[-1]).path},
    )


def _rank(version: str) -> object:
    parsed = parse(version, Scheme.CANN)
    return parsed.key[:4] if parsed else version
