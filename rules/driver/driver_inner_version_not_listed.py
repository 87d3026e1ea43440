"""Whether the driver's inner version (V100R001Cxx) is a member of the list in CANN's install info: membership only, C numbers are not ordered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.npu import Chip
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip


def judge(driver: Driver, cann: Cann, chip: Chip | None) -> Iterator[Hit]:
    listed = cann.active.compatible_versions if cann.active else None
    inner = re.match(r"V\d+R\d+C\d+", driver.inner_version or "")
    if cann.active is None or not listed or inner is None:
        raise Skip("the install info of this CANN (9.x) or of this driver does not carry the inner versions")
    if inner[0] in listed:
        return
    fits = compat.hdk_accepts(cann.active.version, driver.version, chip.family) if chip else None
    yield Hit(
        found=f"driver {driver.version} has inner version {driver.inner_version}",
        wanted="one of " + ", ".join(listed),
        evidence=(
            Evidence(driver.source, f"Innerversion={driver.inner_version}", driver.line),
            Evidence(cann.active.source or cann.source, "compatible_version=" + ",".join(listed)),
        ),
        # The vendor's newer table wins over the list that an older package was shipped with.
        severity=Severity.NOTE if fits else Severity.WARN,
        confidence=Confidence.LIKELY,
    )
