"""Applies the rules of HCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME and TP_SOCKET_IFNAME to the interfaces that are here."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.interfaces import Interfaces
from doctor.facts.target import Environment
from doctor.finding import Evidence, Hit

HCCL = "HCCL_SOCKET_IFNAME"
EXACT = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
"""Variables that take whole names, unlike HCCL's, which takes prefixes."""


def judge(interfaces: Interfaces, environment: Environment) -> Iterator[Hit]:
    values = environment.values
    wanted = values.get(HCCL, "")
    if wanted and values.get("HCCL_IF_IP") not in (interfaces.addresses or ()) and not _chosen(wanted, interfaces.names):
        yield _hit(HCCL, wanted, interfaces, environment)
    for name in EXACT:
        if values.get(name) and not set(values[name].split(",")) & set(interfaces.names):
            yield _hit(name, values[name], interfaces, environment)


def _chosen(wanted: str, names: tuple[str, ...]) -> list[str]:
    """The interfaces that HCCL may use: "eth" is a prefix, "=eth0" a name, and a leading "^" excludes instead."""
    excluding, exact = wanted.startswith("^"), wanted.removeprefix("^").startswith("=")
    parts = [part for part in wanted.removeprefix("^").removeprefix("=").split(",") if part]
    named = [name for name in names if any(name == part or (not exact and name.startswith(part)) for part in parts)]
    return [name for name in names if name not in named] if excluding else named


def _hit(name: str, value: str, interfaces: Interfaces, environment: Environment) -> Hit:
    return Hit(
        subject=name,
        found=f"{name} is {value[:80]}; the interfaces here are {', '.join(interfaces.names[:20])}",
        wanted="an interface that is here",
        evidence=(Evidence(environment.source, f"{name}={value[:200]}"), Evidence(interfaces.source, " ".join(interfaces.names[:40]))),
        values={"nic": value[:80]},
    )
