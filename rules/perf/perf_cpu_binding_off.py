"""Decides perf-cpu-binding-off on a machine: workers that may run on every CPU."""

from collections.abc import Iterator

from doctor.facts.machine import Machine
from doctor.facts.number import span
from doctor.facts.processes import ServerProcesses
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(servers: ServerProcesses | None, machine: Machine | None, matches: Matches) -> Iterator[Hit]:
    workers = [process for process in servers.processes if process.role == "worker" and process.cpus_allowed] if servers is not None else []
    if not workers or machine is None or machine.cpus is None:
        if not matches.looked:
            raise Skip("no worker of a vLLM server is running")
        return
    free = [process for process in workers if (span(process.cpus_allowed or "") or 0) >= (machine.cpus or 0)]
    if machine.arch == "aarch64" and len(workers) > 1 and len(free) == len(workers):
        told = f"all {len(workers)} workers may run on CPUs {free[0].cpus_allowed}"
        evidence = (Evidence(f"/proc/{free[0].pid}/status", f"Cpus_allowed_list: {free[0].cpus_allowed}"),)
        yield Hit(found=told, wanted="CPUs of its own for each worker", evidence=evidence, confidence=Confidence.LIKELY)
