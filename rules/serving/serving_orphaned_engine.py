"""Engine processes whose API server is gone: on the machine, or in a pasted process list."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.vllm import VllmProcesses
from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of

INIT = 1


def judge(matches: Matches, processes: VllmProcesses | None) -> Iterator[Hit]:
    orphans = matches["orphan"]
    if orphans and not matches["server"]:
        pid = next((word for word in orphans[0].text.split() if word.isdigit()), "")
        yield Hit(
            found=orphans[0].text[:120],
            wanted="an API server as its parent",
            evidence=(evidence_of(orphans),),
            values={"pid": pid},
            basis=Basis.LOG,
            position=orphans[0].ordinal + 1,
        )
    running = processes.processes if processes else ()
    if any(process.role == "api" or process.pid == INIT for process in running):
        return
    for engine in running:
        if engine.role == "engine" and engine.ppid == INIT:
            children = [process.pid for process in running if process.ppid == engine.pid]
            yield Hit(
                subject=f"pid {engine.pid}",
                found=f"engine {engine.pid} has no API server; its workers: {', '.join(map(str, children)) or 'none'}",
                evidence=(Evidence("/proc", f"pid {engine.pid} ppid {engine.ppid} {' '.join(engine.argv)[:80]}"),),
                confidence=Confidence.LIKELY,
                values={"pid": " ".join(map(str, (engine.pid, *children)))},
            )
