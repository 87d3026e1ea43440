"""The soft limit of open files of a server, or of the unit that starts it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.processes import ServerProcesses
from doctor.facts.startup import ServiceUnits
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches

LOW = 1024


def judge(servers: ServerProcesses | None, units: ServiceUnits | None, matches: Matches) -> Iterator[Hit]:
    if servers is None and units is None and not matches.looked:
        raise Skip("no server and no unit is known, and no log was given")
    for process in servers.processes if servers else ():
        limit = process.limits.get("Max open files")
        if limit is not None and limit <= LOW:
            yield _hit(f"/proc/{process.pid}/limits", f"Max open files {limit}", 0)
            return
    for unit in units.units if units else ():
        value, file, line = unit.settings.get("LimitNOFILE", ("", "", 0))
        soft = value.partition(":")[0]
        if soft.isdecimal() and int(soft) <= LOW:
            yield _hit(file, f"LimitNOFILE={value}", line)
            return


def _hit(source: str, told: str, line: int) -> Hit:
    return Hit(found=told, wanted="65536 or more", evidence=(Evidence(source, told, line),), confidence=Confidence.LIKELY, severity=Severity.NOTE)
