"""Whether the NPU ports are used at all: by ranks on several nodes, or by a KV transfer. Not a rule: the network rules share it."""

from __future__ import annotations

from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.finding import Severity

_LOCAL = ("127.", "localhost", "0.0.0.0", "::1")


def port_use(commands: ServeCommands | None, environment: Environment | None) -> str:
    """What uses the NPU ports, in words; "" where nothing that is known does."""
    values = environment.values if environment else {}
    if values.get("HCCL_INTRA_ROCE_ENABLE") == "1":
        return "HCCL_INTRA_ROCE_ENABLE=1"
    for command in commands.commands if commands else ():
        flags = command.flags
        if flags.get("nnodes", "1") not in ("", "1"):
            return f"--nnodes {flags['nnodes'][:8]}"
        address = flags.get("data-parallel-address", "")
        if address and not address.startswith(_LOCAL):
            return f"--data-parallel-address {address[:60]}"
        if "kv-transfer-config" in flags:
            return "a KV transfer (--kv-transfer-config)"
    return ""


def severity(use: str, worst: Severity) -> Severity:
    """`worst` where the ports are used, else only a note."""
    return worst if use else Severity.NOTE
