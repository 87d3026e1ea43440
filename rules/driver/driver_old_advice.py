"""A driver older than any that a vllm-ascend release can use, while no CANN is known that makes it a failure."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.npu import Chip
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, compare


def judge(driver: Driver, chip: Chip, cann: Cann | None) -> Iterator[Hit]:
    if chip.family not in compat.DRIVER_COMPARABLE:
        raise Skip(f"no table tells the minimum driver of the {chip.family} family")
    if cann is not None and cann.version and compat.hdk_accepts(cann.version, driver.version, chip.family) is not None:
        return  # driver-too-old-for-cann judges this pair
    oldest = compat.releases()[0]
    minimum = compat.hdk_minimum(oldest.cann, chip.family)
    if minimum is None:
        raise Skip("no table tells the minimum driver")
    if compare(driver.version, minimum[0], Scheme.HDK) == -1:
        yield Hit(
            found=f"driver (HDK) {driver.version}",
            wanted=f"HDK {minimum[0]} or newer, which even the oldest release (CANN {oldest.cann}) needs",
            evidence=(Evidence(driver.source or "driver", driver.version, driver.line),),
            values={"hdk_minimum": minimum[0]},
        )
