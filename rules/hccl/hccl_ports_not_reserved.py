"""Whether the kernel may give HCCL's 32 host ports to outgoing connections."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.kernel import Sysctls
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Environment
from doctor.finding import Evidence, Hit, Skip

BASE, COUNT = 60000, 32
"""HCCL listens on HCCL_IF_BASE_PORT (60000) and the 31 ports above it."""
RANGE, RESERVED = "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports"


def judge(sysctls: Sysctls, presence: NpuPresence, environment: Environment | None) -> Iterator[Hit]:
    if not presence.present:
        raise Skip("no NPU is here")
    span = sysctls.values.get(RANGE, "").split()
    reserved = sysctls.values.get(RESERVED)
    if len(span) != 2 or not all(_number(word) for word in span) or reserved is None:
        raise Skip(f"{RANGE} and {RESERVED} are not known")
    values = environment.values if environment else {}
    if values.get("HCCL_HOST_SOCKET_PORT_RANGE"):
        return
    base = int(values["HCCL_IF_BASE_PORT"]) if _number(values.get("HCCL_IF_BASE_PORT", "")) else BASE
    wanted = set(range(base, base + COUNT)) & set(range(int(span[0]), int(span[1]) + 1))
    if wanted - _ports(reserved):
        ours = f"{base}-{base + COUNT - 1}"
        yield Hit(
            found=f"ports {min(wanted)} to {max(wanted)} may go to outgoing connections",
            wanted=f"{ours} in {RESERVED}",
            evidence=(
                Evidence(sysctls.source, f"{RANGE} = {span[0]} {span[1]}"),
                Evidence(sysctls.source, f"{RESERVED} = {reserved.strip()[:200]}"),
            ),
            values={"reserved": ",".join(part for part in (reserved.strip(), ours) if part)},
        )


def _ports(text: str) -> set[int]:
    """The ports of a list like "8080,60000-60031"."""
    found: set[int] = set()
    for part in text.strip().split(","):
        low, _, high = part.strip().partition("-")
        if _number(low) and (not high or _number(high)):
            found |= set(range(int(low), int(high or low) + 1))
    return found


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5
