"""The driver (HDK) against the minimum of the CANN in use, within the chip families whose drivers are one line of numbers."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.npu import Chip, NpuPresence
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches

_OTHER_LINES = ("25.1", "25.6", "25.7")
"""HDK lines that the 950 products use too: such a driver tells nothing while the chip is unknown."""


def judge(driver: Driver, cann: Cann, chip: Chip | None, presence: NpuPresence | None, matches: Matches) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if cann.version is None:
        raise Skip("no CANN is in use")
    if chip is not None and chip.family not in compat.DRIVER_COMPARABLE:
        raise Skip(f"the notes of CANN give no minimum driver for the {chip.family} family")
    if chip is None and compat.line(driver.version) in _OTHER_LINES:
        raise Skip("the chip is not known, and drivers of several families carry this number")
    families = (chip.family,) if chip else compat.DRIVER_COMPARABLE
    answers = {family: compat.hdk_accepts(cann.version, driver.version, family) for family in families}
    if None in answers.values():
        raise Skip(f"no table tells which driver CANN {cann.version} needs")
    if any(answers.values()):
        return
    minimum = compat.hdk_minimum(cann.version, families[0])
    if minimum is None:
        raise Skip(f"no table tells which driver CANN {cann.version} needs")
    lines = matches["driver_lacks"]
    proven = minimum[1] == "official" and cann.active_by != "text"
    yield Hit(
        found=f"driver (HDK) {driver.version} with CANN {cann.version}",
        wanted=f"HDK {minimum[0]} or newer for CANN {cann.version}",
        evidence=(
            Evidence(driver.source or "driver", f"driver {driver.version}", driver.line),
            Evidence(cann.source or "CANN", f"CANN {cann.version}", cann.line),
        ),
        confidence=Confidence.SURE if chip else Confidence.LIKELY,
        # A minimum that is inferred from other products' tables, and versions that a text names, prove a failure together with an error alone.
        severity=Severity.FAIL if proven or lines else Severity.WARN,
        values={"hdk_minimum": minimum[0]},
        basis=Basis.BOTH if lines else Basis.FACTS,
        position=lines[0].ordinal + 1 if lines else 0,
    )
