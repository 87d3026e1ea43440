"""The port of the KV connector's side channel, which another process has open, on releases that stop without a word then."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.startup import ListeningSockets
from doctor.facts.target import Environment, Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches
from doctor.regex import regex
from doctor.versions import Scheme, satisfies

AFFECTED = "< 0.12.0rc1"
VARIABLES = ("VLLM_LLMDD_RPC_PORT", "VLLM_ASCEND_LLMDD_RPC_PORT", "VLLM_NIXL_SIDE_CHANNEL_PORT")
_PORT = regex(r"[\"']kv_port[\"']\s{0,4}:\s{0,4}[\"']?(\d{2,5})")


def judge(commands: ServeCommands | None, packages: Packages | None, sockets: ListeningSockets | None, environment: Environment | None, matches: Matches) -> Iterator[Hit]:
    if commands is None or packages is None or sockets is None:
        if not matches.looked:
            raise Skip("the commands, the installed release, or the listening sockets are not known")
        return
    release = packages.versions.get("vllm-ascend", "")
    if not release or satisfies(release, AFFECTED, Scheme.PACKAGE) is not True:
        return
    named = [value for name in VARIABLES if environment and (value := environment.values.get(name, "")).isdecimal()]
    for command in commands.commands:
        told = command.flags.get("kv-transfer-config", "")
        ports = {int(port) for port in (*_PORT.findall(told), *named) if len(port) < 6} if told else set()
        taken = next((socket for socket in sockets.sockets if socket.port in ports), None)
        if taken is not None and command.pid is None:
            found = f"port {taken.port} of the KV connector is open already" + (f" ({taken.name})" if taken.name else "")
            yield Hit(
                found=found,
                wanted="a free port",
                evidence=(Evidence(sockets.source, found), Evidence(command.source, told[:200], command.line)),
                confidence=Confidence.LIKELY,
                severity=Severity.WARN,
                values={"port": str(taken.port)},
            )
            return
