"""Whether a systemd unit restarts vLLM on failure only."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.startup import ServiceUnits
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches

ON_FAILURE = ("on-failure", "on-abnormal", "on-abort", "on-watchdog")


def judge(units: ServiceUnits | None, matches: Matches) -> Iterator[Hit]:
    if units is None:
        if not matches.looked:
            raise Skip("no unit is known, and no log was given")
        return
    for unit in units.units:
        value, path, line = unit.settings.get("Restart", ("", "", 0))
        if value in ON_FAILURE:
            yield Hit(
                subject=unit.name,
                found=f"{unit.name}: Restart={value}",
                wanted="Restart=always",
                evidence=(Evidence(path, f"Restart={value}", line),),
                confidence=Confidence.LIKELY,
                severity=Severity.NOTE,
            )
