"""Decides perf-cpu-binding-off: binding switched off in the command, and on a machine workers that may run on every CPU."""

import re
from collections.abc import Iterator

from doctor.facts.machine import Machine
from doctor.facts.number import span
from doctor.facts.processes import ServerProcesses
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches
from doctor.regex import regex

_OFF = regex(r"enable_cpu_binding[\"']?\s{0,3}:\s{0,3}false", re.IGNORECASE)


def judge(servers: ServerProcesses | None, machine: Machine | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    off = next((one for one in commands.commands if _OFF.search(one.flags.get("additional-config", ""))), None) if commands else None
    if off is not None and not (machine and machine.arch and machine.arch != "aarch64"):  # elsewhere nothing is bound anyway
        yield Hit(found="enable_cpu_binding is false", wanted="true", evidence=(Evidence(off.source, "--additional-config: enable_cpu_binding false", off.line),))
        return
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
