"""Decides host-swappiness-high: the running value, who sets it, and whether there is swap at all."""

from collections.abc import Iterator

from doctor.facts.kernel import Sysctls
from doctor.facts.machine import Memory
from doctor.facts.npu import NpuPresence
from doctor.finding import Evidence, Hit, Skip

KEY = "vm.swappiness"
HIGHEST = 10
"""vllm-ascend's tuning guide asks for 0 or 1; 10 is often advised elsewhere and does no harm."""


def judge(sysctls: Sysctls, memory: Memory, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    told = sysctls.values.get(KEY, "")
    if not told.isdecimal():
        raise Skip(f"{KEY} is not known")
    if memory.swap_total is None and int(told) > HIGHEST:
        raise Skip("whether there is swap is not known")
    if int(told) <= HIGHEST or memory.swap_total == 0:
        return
    setters = "; ".join(f"{path} sets {value}" for path, value in sysctls.set_in.get(KEY, ()))
    yield Hit(
        found=f"{KEY} is {told}" + (f"; {setters}" if setters else ""),
        wanted=f"{HIGHEST} or less (1 is best)",
        evidence=(Evidence("/proc/sys/vm/swappiness", told), Evidence("/proc/meminfo", f"SwapTotal: {(memory.swap_total or 0) // 2**20} MiB")),
    )
