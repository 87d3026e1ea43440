"""Decides container-runtime-nodrv: the runtime was told not to mount the driver, and the driver is not there."""

from collections.abc import Iterator

from doctor.facts.driver import DriverInstall
from doctor.facts.target import Environment
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of

OPTIONS = "ASCEND_RUNTIME_OPTIONS"


def judge(environment: Environment, install: DriverInstall | None, matches: Matches) -> Iterator[Hit]:
    options = environment.values.get(OPTIONS, "")
    if "NODRV" not in options.upper().split(","):
        return
    missing = install is not None and install.libraries.get("libascend_hal.so") is False
    lines = matches["symptom"]
    if missing or lines:
        yield Hit(
            found=f"{OPTIONS}={options}" + ("; no libascend_hal.so" if missing else ""),
            wanted="no NODRV, or all of the driver mounted",
            evidence=(Evidence(environment.source, f"{OPTIONS}={options}"), *((evidence_of(lines),) if lines else ())),
            confidence=Confidence.SURE if missing else Confidence.LIKELY,
            severity=Severity.FAIL,
            basis=Basis.BOTH if lines else Basis.FACTS,
            position=lines[0].ordinal + 1 if lines else 0,
        )
