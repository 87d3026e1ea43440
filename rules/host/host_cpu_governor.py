"""Decides host-cpu-governor: how many CPUs have which governor."""

from collections.abc import Iterator

from doctor.facts.kernel import Governors
from doctor.facts.machine import Machine
from doctor.facts.npu import NpuPresence
from doctor.finding import Evidence, Hit, Severity, Skip

WANTED = "performance"
X86 = ("Intel", "AMD", "Hygon")
"""Their drivers in active mode run at full speed with "powersave", too."""


def judge(governors: Governors, presence: NpuPresence | None, machine: Machine | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    others = {name: count for name, count in governors.counts.items() if name != WANTED}
    if not others:
        return
    total = sum(governors.counts.values())
    told = ", ".join(f"{count} of {total} CPUs: {name}" for name, count in sorted(others.items()))
    mild = set(others) == {"powersave"} and machine is not None and machine.cpu_vendor in X86
    yield Hit(found=told, wanted=WANTED, evidence=(Evidence(governors.source, told),), severity=Severity.NOTE if mild else None)
