"""What else lives on the host beside vLLM: MindIE on its disk, and services of edge platforms.

Contract: parsers are pure and never raise; the folders and processes that are looked at are bounded.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.cann_disk import BASES, folders, real_folder
from doctor.host import Host, Process, Unavailable
from doctor.record import dataclass
from doctor.regex import regex

INFO_LIMIT = 16 * 1024
"""Bytes of a version.info."""
MOST_FOLDERS = 16

EDGE_UNITS = (
    "/etc/systemd/system/edgecore.service",
    "/usr/lib/systemd/system/edgecore.service",
    "/lib/systemd/system/edgecore.service",
    "/etc/kubeedge/config/edgecore.yaml",
)
"""keadm writes the first and the last."""

_MINDIE = regex(r"^\s{0,8}Ascend-mindie\s{0,4}:\s{0,4}(?:MindIE\s{1,4})?(?P<version>\d[\w.]{1,30})", re.MULTILINE | re.IGNORECASE)
_BUILD = regex(r"\.[BT]\d{1,6}$", re.IGNORECASE)


@dataclass(frozen=True)
class MindIE:
    """One MindIE: its release without the build ("2.1.RC2"), its folder, and where that was read."""

    version: str
    path: str
    source: str
    line: int = 0


@dataclass(frozen=True)
class MindIEs:
    """Every MindIE; empty if there is none."""

    found: tuple[MindIE, ...]
    source: str = "/usr/local/Ascend/mindie"


@dataclass(frozen=True)
class EdgeServices:
    """Services of KubeEdge and EdgeX Foundry: the names of those that run, and the unit or configuration of an installed edgecore."""

    running: tuple[str, ...]
    edgecore_unit: str = ""
    source: str = "/proc"

    @property
    def edgecore(self) -> bool:
        """Whether edgecore runs."""
        return "edgecore" in self.running


def parse_mindie(text: str) -> str | None:
    """The release in MindIE's version.info: "Ascend-mindie : MindIE 2.1.RC2.B080" -> 2.1.RC2."""
    found = _MINDIE.search(text)
    return release_of(found["version"]) if found else None


def release_of(version: str) -> str:
    """2.1.RC2 of the build 2.1.RC2.B080."""
    return _BUILD.sub("", version).rstrip(".")


def edge_services(processes: Iterable[Process]) -> tuple[str, ...]:
    """Names of the processes that belong to KubeEdge or EdgeX, each once."""
    names = (_edge_name(process) for process in processes)
    return tuple(dict.fromkeys(name for name in names if name))


def _edge_name(process: Process) -> str:
    program = posixpath.basename(process.exe or (process.argv[0] if process.argv else "")) or process.name
    if program in ("edgecore", "cloudcore"):
        return program
    # The binaries of EdgeX have plain names (core-data); their registry and configuration provider carry the product's.
    words = " ".join(process.argv)[:2000].lower()
    return f"EdgeX {program}"[:80] if program.startswith(("core-", "support-", "app-", "device-", "security-", "edgex-")) and "edgex" in words else ""


def read_mindies(host: Host, facts: Facts) -> MindIEs | Unavailable:
    found = folders(host, [f"{base}/mindie/*" for base in BASES])
    if isinstance(found, Unavailable):
        return found
    paths = dict.fromkeys(real for path in found[:MOST_FOLDERS] if (real := real_folder(host, path)))
    mindies: list[MindIE] = []
    for path in paths:
        source = f"{path}/version.info"
        text = host.read(source, INFO_LIMIT)
        version = parse_mindie(text) if isinstance(text, str) else None
        if version is not None:
            mindies.append(MindIE(version, path, source, 1))
    return MindIEs(tuple(mindies))


def read_edge(host: Host, facts: Facts) -> EdgeServices | Unavailable:
    processes = host.processes()
    if isinstance(processes, Unavailable):
        return processes
    unit = next((path for path in EDGE_UNITS if not isinstance(host.stat(path), Unavailable)), "")
    return EdgeServices(edge_services(processes), unit)


PROVIDERS: tuple[Provider[Any], ...] = (Provider(MindIEs, read_mindies), Provider(EdgeServices, read_edge))
