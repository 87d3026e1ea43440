"""Decides host-ulimits-low on a machine: the soft limits of a running server."""

from collections.abc import Iterator

from doctor.facts.processes import ServerProcesses
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

LEAST = 65536
"""Open files and processes that a server with many workers should be allowed: our estimate, no vendor tells a number."""

NAMES = ("Max open files", "Max processes")


def judge(servers: ServerProcesses | None, matches: Matches) -> Iterator[Hit]:
    if servers is None or not servers.processes:
        if not matches.looked:
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
