"""Decides host-ulimits-low on a machine: the soft limits of a running server, and those that a systemd unit gives to one."""

from collections.abc import Iterator

from doctor.facts.processes import ServerProcesses
from doctor.facts.startup import ServiceUnits
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

LEAST = 65536
"""Open files and processes that a server with many workers should be allowed: our estimate, no vendor tells a number."""

NAMES = ("Max open files", "Max processes")


UNIT = {"LimitNOFILE": LEAST, "LimitNPROC": LEAST, "LimitMEMLOCK": 2**30}
"""Settings of a unit and the least value that is not low. Registered memory of RDMA counts as locked."""
SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def judge(servers: ServerProcesses | None, units: ServiceUnits | None, matches: Matches) -> Iterator[Hit]:
    if servers is None or not servers.processes:
        if units is not None and units.units:
            yield from _of_units(units)
        elif not matches.looked:
            raise Skip("no vLLM server is running")
        return
    for process in servers.processes:
        low = {name: limit for name in NAMES if (limit := process.limits.get(name)) is not None and limit < LEAST}
        if low:
            told = ", ".join(f"{name} {limit}" for name, limit in low.items())
            yield Hit(
                found=told, wanted=f"{LEAST} or more", evidence=(Evidence(f"/proc/{process.pid}/limits", told),), confidence=Confidence.POSSIBLE
            )
            return


def _of_units(units: ServiceUnits) -> Iterator[Hit]:
    for unit in units.units:
        for name, least in UNIT.items():
            value, path, line = unit.settings.get(name, ("", "", 0))
            soft = value.partition(":")[0].strip()
            limit = int(soft[:-1]) * SIZES[soft[-1]] if soft[-1:] in SIZES and _number(soft[:-1]) else int(soft) if _number(soft) else None
            if limit is not None and limit < least:
                yield Hit(
                    subject=unit.name,
                    found=f"{unit.name}: {name}={value}",
                    wanted="infinity" if name == "LimitMEMLOCK" else f"{LEAST} or more",
                    evidence=(Evidence(path, f"{name}={value}", line),),
                    confidence=Confidence.POSSIBLE,
                )
                break


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15
