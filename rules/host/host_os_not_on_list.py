"""Decides host-os-not-on-list: the host's release against the list that is published for Atlas 800I A2."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.machine import OperatingSystem
from doctor.facts.npu import Chip
from doctor.finding import Evidence, Hit, Skip

LISTED = {
    "ubuntu": ("22.04", "24.04"),
    "openeuler": ("22.03", "24.03"),
    "kylin": ("V10", "V11"),
    "bclinux": ("21.10",),
    "ctyunos": ("23.01", "2-23.01"),
    "euleros": ("2.0", "2.13", "2.15"),
}
"""Of the HDK release notes for Atlas 800I A2; service packs are not told apart."""


def judge(os: OperatingSystem, chip: Chip, container: Container) -> Iterator[Hit]:
    if container.inside:
        raise Skip("the host's system cannot be seen from a container")
    if chip.family != "a2":
        raise Skip(f"no list of systems is known for {chip.name}")
    if not os.id or not os.version_id:
        raise Skip("the system's name or version is not known")
    if any(os.version_id.lower().startswith(version.lower()) for version in LISTED.get(os.id, ())):
        return
    told = os.name or f"{os.id} {os.version_id}"
    yield Hit(found=told, wanted="a listed release", evidence=(Evidence(os.source, told),))
