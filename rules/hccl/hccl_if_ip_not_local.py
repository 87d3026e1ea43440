"""Whether HCCL_IF_IP is an address of this host."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from doctor.facts.interfaces import Interfaces
from doctor.facts.target import Environment
from doctor.finding import Evidence, Hit, Skip


def judge(interfaces: Interfaces, environment: Environment) -> Iterator[Hit]:
    value = environment.values.get("HCCL_IF_IP", "").strip()
    if not value:
        return
    if interfaces.addresses is None:
        raise Skip("the addresses of this host are not known")
    try:
        address = str(ip_address(value.partition("%")[0]))
    except ValueError:
        address = value
    if address not in interfaces.addresses:
        yield Hit(
            found=f"HCCL_IF_IP is {value[:60]}, which no interface here has",
            wanted="one of " + ", ".join(sorted(interfaces.addresses)[:12]),
            evidence=(Evidence(environment.source, f"HCCL_IF_IP={value[:100]}"),),
        )
