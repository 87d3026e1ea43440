"""Whether something other than vLLM listens on the port of a server that is to be started here."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.startup import ListeningSockets
from doctor.facts.vllm import ServeCommands, VllmProcesses
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

DEFAULT = 8000
RELAYS = ("docker-proxy", "rootlessport", "conmon", "slirp4netns", "kube-proxy", "haproxy", "nginx", "envoy", "vllm", "python", "pt_main", "VLLM")
"""Processes that may listen for the very server: relays of containers, and vLLM under its own names."""


def judge(
    sockets: ListeningSockets | None, commands: ServeCommands | None, processes: VllmProcesses | None, matches: Matches
) -> Iterator[Hit]:
    if sockets is None or commands is None:
        if not matches.looked:
            raise Skip("the listening sockets are not known, and no log was given")
        return
    ours = {process.pid for process in processes.processes} if processes else set()
    for command in commands.commands:
        given = command.flags.get("port", str(DEFAULT))
        if command.pid is not None or command.flags.get("host") or command.flags.get("uds") or not (given.isascii() and given.isdigit()):
            continue
        for socket in sockets.sockets:
            if socket.port == int(given) and socket.pid is not None and socket.pid not in ours and socket.name and not socket.name.startswith(RELAYS):
                told = f"{socket.name} (pid {socket.pid}) listens on {socket.address}:{socket.port}"
                yield Hit(
                    found=told,
                    wanted=f"a free port {given}",
                    evidence=(Evidence(sockets.source, told), Evidence(command.source, f"port {given}", command.line)),
                    confidence=Confidence.LIKELY,
                )
                return
