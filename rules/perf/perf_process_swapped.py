"""Decides perf-process-swapped on a machine: vLLM processes with memory in swap."""

from collections.abc import Iterator

from doctor.facts.processes import ServerProcesses
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches

LEAST = 1024
"""KiB: a few pages in swap cost nothing."""


def judge(servers: ServerProcesses | None, matches: Matches) -> Iterator[Hit]:
    if servers is None or not servers.processes:
        if not matches.looked:
            raise Skip("no vLLM server is running")
        return
    swapped = [process for process in servers.processes if (process.swapped or 0) >= LEAST]
    if swapped:
        worst = max(swapped, key=lambda process: process.swapped or 0)
        told = f"{(worst.swapped or 0) // 1024} MiB of process {worst.pid} ({worst.role}) are in swap, {(worst.resident or 0) // 1024} MiB in memory"
        yield Hit(found=told, wanted="nothing in swap", evidence=(Evidence(f"/proc/{worst.pid}/status", f"VmSwap: {worst.swapped} kB"),))
