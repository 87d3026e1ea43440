"""Whether a process other than vLLM listens on one of the ports that HCCL will listen on."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.startup import ListeningSockets
from doctor.facts.target import Environment
from doctor.facts.vllm import VllmProcesses
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches

BASE, COUNT = 60000, 32


def judge(
    sockets: ListeningSockets | None, presence: NpuPresence | None, environment: Environment | None, processes: VllmProcesses | None, matches: Matches
) -> Iterator[Hit]:
    if sockets is None or presence is None:
        if not matches.looked:
            raise Skip("the listening sockets are not known, and no log was given")
        return
    if not presence.present:
        raise Skip("no NPU is here")
    values = environment.values if environment else {}
    if values.get("HCCL_HOST_SOCKET_PORT_RANGE") or processes is not None and processes.processes:
        return  # while a server runs, these may be its own
    given = values.get("HCCL_IF_BASE_PORT", "")
    base = int(given) if given.isascii() and given.isdigit() else BASE
    busy = [one for one in sockets.sockets if base <= one.port < base + COUNT and not one.address.startswith("127.") and one.address != "::1"]
    if busy:
        held = ", ".join(f"{one.port}" + (f" ({one.name}, pid {one.pid})" if one.name else "") for one in busy[:6])
        yield Hit(
            found=f"ports are listened on: {held}",
            wanted=f"ports {base} to {base + COUNT - 1} free",
            evidence=(Evidence(sockets.source, held),),
            confidence=Confidence.POSSIBLE,
            severity=Severity.WARN,
        )
