"""Decides perf-omp-threads: how many OpenMP threads each worker of a running server may start."""

from collections.abc import Iterator

from doctor.facts.machine import Machine
from doctor.facts.target import Environment
from doctor.facts.vllm import VllmProcesses
from doctor.finding import Confidence, Evidence, Hit, Skip

VARIABLE = "OMP_NUM_THREADS"


def judge(environment: Environment, processes: VllmProcesses, machine: Machine) -> Iterator[Hit]:
    if not processes.processes:
        raise Skip("no vLLM server is running")
    if machine.cpus is None or not environment.complete:
        raise Skip("the number of CPUs or the whole environment is not known")
    workers = max(1, sum(process.role == "worker" for process in processes.processes))
    share = max(1, machine.cpus // workers)
    value = environment.values.get(VARIABLE, "")
    threads = int(value) if value.isascii() and value.isdecimal() and len(value) < 6 else None
    if threads is None or threads > share:
        told = f"{VARIABLE} is {value or 'not set'}; {machine.cpus} CPUs for {workers} worker{'s' if workers > 1 else ''}"
        yield Hit(found=told, wanted=f"{min(10, share)}", evidence=(Evidence(environment.source, told),), confidence=Confidence.LIKELY)
