"""Who holds which chip: npu-smi's process table put together with the machine's processes. Pure functions of facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from doctor.facts.npu_types import Npu, NpuProcess, Npus
from doctor.facts.vllm import VllmProcess, vllm_processes
from doctor.host import Process
from doctor.record import dataclass

INIT = 1

HELD_MB = 8192
"""Memory in use, in MB, from which on a chip without a process is held by somebody: idle chips of every family use less than 7000."""

SERVER, LEFTOVER, ZOMBIE, UNSEEN, OTHER, UNKNOWN = "server", "leftover", "zombie", "unseen", "other", "unknown"
"""A process of a running vLLM; one whose API server is gone; one that has ended and was not collected; one that this machine's list does not
hold (another container's, or gone); another program; no list of processes could be had."""

UNHEALTHY, HELD, SHARED = "unhealthy", "held", "shared"
"""Not OK; memory in use without a process; processes that are not of one server."""


@dataclass(frozen=True)
class Holder:
    """One process on one chip. `role` is vLLM's (api, engine, worker, other), "" for another program."""

    process: NpuProcess
    state: str
    role: str = ""
    argv: tuple[str, ...] = ()
    root: int = 0
    """Pid of the topmost vLLM process above it; its own for others."""

    @property
    def odd(self) -> bool:
        return self.state in (LEFTOVER, ZOMBIE)


@dataclass(frozen=True)
class ChipUse:
    """One chip with what holds it; `marks` say what is odd about it."""

    npu: Npu
    holders: tuple[Holder, ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def memory(self) -> tuple[int | None, int | None]:
        """Used and total MB of the memory that models live in: HBM, or DDR where the chip has no HBM."""
        if self.npu.hbm_total_mb:
            return self.npu.hbm_used_mb, self.npu.hbm_total_mb
        return self.npu.ddr_used_mb, self.npu.ddr_total_mb or None


def chip_uses(npus: Npus, processes: Sequence[Process] | None) -> tuple[ChipUse, ...]:
    """Every chip of the table. `processes` None: they are not known."""
    holders = [_holder(process, processes) for process in npus.processes] if processes is None else list(_holders(npus, processes))
    uses = []
    for npu in npus.chips:
        mine = tuple(h for h in holders if h.process.npu_id == npu.npu_id and h.process.chip_id in (None, npu.chip_id or 0))
        use = ChipUse(npu, mine)
        uses.append(ChipUse(npu, mine, tuple(_marks(use))))
    return tuple(uses)


def _holder(process: NpuProcess, processes: Sequence[Process] | None) -> Holder:
    return Holder(process, UNKNOWN if processes is None else UNSEEN, root=process.pid)


def _holders(npus: Npus, processes: Sequence[Process]) -> Iterator[Holder]:
    every = {process.pid: process for process in processes}
    vllm = {process.pid: process for process in vllm_processes(processes)}
    for process in npus.processes:
        seen = every.get(process.pid)
        if seen is None:
            yield _holder(process, processes)
            continue
        top = _root(process.pid, vllm)
        role = vllm[process.pid].role if process.pid in vllm else ""
        orphan = bool(role) and vllm[top].role != "api" and vllm[top].ppid == INIT
        state = ZOMBIE if seen.state[:1] == "Z" else LEFTOVER if orphan else SERVER if role else OTHER
        yield Holder(process, state, role, seen.argv or (seen.name,), top)


def _root(pid: int, vllm: Mapping[int, VllmProcess]) -> int:
    """The topmost vLLM process above; a broken table may hold rings."""
    steps = 0
    while pid in vllm and vllm[pid].ppid in vllm and steps < len(vllm):
        pid, steps = vllm[pid].ppid, steps + 1
    return pid


def _marks(use: ChipUse) -> Iterator[str]:
    if (use.npu.health or "OK").upper() != "OK":
        yield UNHEALTHY
    used, _ = use.memory
    if not use.holders and used is not None and used >= HELD_MB:
        yield HELD
    large = {holder.root for holder in use.holders if (holder.process.memory_mb or 0) > 1024}  # a second context of one server takes 107 MB
    if len(large) > 1:
        yield SHARED


__all__ = [
    "ChipUse", "HELD", "HELD_MB", "Holder", "LEFTOVER", "OTHER", "SERVER", "SHARED", "UNHEALTHY", "UNKNOWN", "UNSEEN", "ZOMBIE", "chip_uses",
]  # fmt: skip
