"""Decides perf-allocator-not-preloaded: whether a running server has mapped jemalloc or tcmalloc, else what its LD_PRELOAD says."""

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.processes import ServerProcesses
from doctor.facts.target import Environment
from doctor.finding import Confidence, Evidence, Hit, Skip


def judge(servers: ServerProcesses, environment: Environment | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if not servers.processes:
        raise Skip("no vLLM server is running")
    mapped = {process.pid: process.allocator for process in servers.processes if process.allocator is not None}
    if mapped:
        without = [pid for pid, found in mapped.items() if not found]
        if without:
            told = f"neither jemalloc nor tcmalloc is mapped in process {without[0]}"
            yield Hit(found=told, wanted="one of them, preloaded", evidence=(Evidence(f"/proc/{without[0]}/maps", told),))
        return
    if environment is None or not environment.complete:
        raise Skip("neither the maps nor the environment of the server can be read")
    preload = environment.values.get("LD_PRELOAD", "")
    if "jemalloc" not in preload and "tcmalloc" not in preload:
        told = f"LD_PRELOAD is {preload or 'not set'}"
        yield Hit(
            found=told, wanted="libjemalloc.so.2 or libtcmalloc.so.4", evidence=(Evidence(environment.source, told),), confidence=Confidence.LIKELY
        )
