"""Decides container-memory-limit-tight: the cgroup's limit against /dev/shm and what the processes need by themselves."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.machine import Disks, Memory
from doctor.finding import Confidence, Evidence, Hit, Skip

OWN = 8 * 2**30
"""Bytes for the processes without weights: our estimate."""


def judge(memory: Memory, container: Container, disks: Disks | None) -> Iterator[Hit]:
    if not container.inside:
        raise Skip("not in a container")
    if memory.cgroup_limit is None:
        return
    shm = disks.by_mount.get("/dev/shm") if disks is not None else None
    least = OWN + (shm.size if shm is not None else 0)
    if memory.cgroup_limit < least:
        told = f"the limit is {memory.cgroup_limit // 2**20} MiB, /dev/shm {(shm.size if shm else 0) // 2**20} MiB"
        yield Hit(
            found=told,
            wanted=f"more than {least // 2**20} MiB, plus the weights",
            evidence=(Evidence(memory.source or "memory.max", told),),
            confidence=Confidence.LIKELY,
        )
