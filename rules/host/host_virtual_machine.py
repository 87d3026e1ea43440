"""Decides host-virtual-machine: whether the machine that has the NPUs is a virtual one."""

from collections.abc import Iterator

from doctor.facts.machine import Machine
from doctor.facts.npu import NpuPresence
from doctor.finding import Evidence, Hit, Skip


def judge(machine: Machine, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if machine.hypervisor is None:
        raise Skip("whether this is a virtual machine was not told")
    if machine.hypervisor:
        told = f"the hypervisor is {machine.hypervisor}"
        yield Hit(found=told, wanted="ids of NPUs that count from 0", evidence=(Evidence(machine.source, told),))
