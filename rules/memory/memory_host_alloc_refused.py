"""A limit on the address space of a server, of which processes on NPUs reserve terabytes."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.processes import ServerProcesses
from doctor.facts.startup import ServiceUnits
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(servers: ServerProcesses | None, units: ServiceUnits | None, matches: Matches) -> Iterator[Hit]:
    if servers is None and units is None and not matches.looked:
        raise Skip("no server and no unit is known, and no log was given")
    for process in servers.processes if servers else ():
        limit = process.limits.get("Max address space")
        if limit is not None:
            yield _hit(f"/proc/{process.pid}/limits", f"Max address space {limit}", 0)
            return
    for unit in units.units if units else ():
        value, file, line = unit.settings.get("LimitAS", ("", "", 0))
        if value and value.partition(":")[0] != "infinity":
            yield _hit(file, f"LimitAS={value}", line)
            return


def _hit(source: str, told: str, line: int) -> Hit:
    return Hit(found=told, wanted="unlimited", evidence=(Evidence(source, told, line),), confidence=Confidence.LIKELY)
