"""Whether a systemd unit starts vLLM without CANN's variables, which only start files of interactive shells export."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.startup import ServiceUnits, ShellFiles
from doctor.facts.vllm import VllmProcesses
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(
    units: ServiceUnits | None, shells: ShellFiles | None, processes: VllmProcesses | None, presence: NpuPresence | None, matches: Matches
) -> Iterator[Hit]:
    if units is None or shells is None:
        if not matches.looked:
            raise Skip("neither units nor start files of shells are known, and no log was given")
        return
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if processes is not None and processes.processes:
        return  # a server runs: its own environment tells
    if not shells.sourcing:
        return
    path, line, text = shells.sourcing[0]
    for unit in units.units:
        started = unit.settings.get("ExecStart")
        if unit.cann is False and started is not None:
            yield Hit(
                subject=unit.name,
                found=f"{unit.name} starts vLLM without CANN's variables, which {path} exports for shells only",
                wanted="set_env.sh sourced in ExecStart, or the variables in an EnvironmentFile",
                evidence=(Evidence(started[1], f"ExecStart={started[0]}"[:400], started[2]), Evidence(path, text[:400], line)),
                confidence=Confidence.LIKELY,
            )
