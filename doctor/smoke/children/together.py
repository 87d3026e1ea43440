"""All cards together: every card in a process of its own adds up a vector with all others (HCCL; gloo on a CPU), checked and timed.

job: device, torch_device, cards, folder. Called with a rank, it is one of those processes.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

SMALL, LARGE = 1024, 16 * 1024 * 1024
"""Elements of fp32: one for the way, one for the width."""
LARGE_CPU = 1024 * 1024
TIMES = 5
SECONDS = 120
"""How long the processes wait for each other."""


def run(say: Any, job: Mapping[str, Any]) -> None:
    world = len(job["cards"])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    say.occupied("port", str(port))
    say.stage(f"start {world} processes")
    told = json.dumps({**job, "port": port})
    ranks = [subprocess.Popen([sys.executable, os.path.abspath(__file__), str(rank), told], stdin=subprocess.DEVNULL) for rank in range(world)]
    say.stage("all-reduce")
    codes = _wait(ranks)
    say.stage("collect")
    for rank, code in enumerate(codes):
        say.check("process ended well", code == 0, "" if code == 0 else f"rank {rank}: exit {code}", f"rank {rank}")
    results = [_result(job["folder"], rank) for rank in range(world)]
    for rank, result in enumerate(results):
        say.check("sum is right", result.get("right") is True, str(result.get("wrong", "no result")), f"rank {rank}")
    if results and results[0].get("seconds"):
        size, seconds = results[0]["bytes"], results[0]["seconds"]
        say.figure("all-reduce", round(seconds * 1e3, 3), "ms", f"{size / 2**20:.0f} MiB, {world} processes")
        say.figure("bus bandwidth", round(2 * (world - 1) / world * size / seconds / 1e9, 3), "GB/s")
        say.figure("all-reduce", round(results[0]["small_seconds"] * 1e6, 1), "µs", f"{4 * SMALL // 1024} KiB, {world} processes")


def _wait(ranks: list[subprocess.Popen[bytes]]) -> list[int]:
    """When one has failed, the others wait for it in vain."""
    failed_at = None
    while any(rank.poll() is None for rank in ranks):
        if failed_at is None and any(rank.poll() for rank in ranks):
            failed_at = time.monotonic()
        if failed_at is not None and time.monotonic() - failed_at > 10:
            for rank in ranks:
                rank.kill()
        time.sleep(0.05)
    return [rank.wait() for rank in ranks]


def _result(folder: str, rank: int) -> dict[str, Any]:
    try:
        with open(os.path.join(folder, f"rank-{rank}.json"), encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def one(rank: int, job: Mapping[str, Any]) -> None:
    """The work of one process."""
    if job["device"] == "cpu":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    import datetime

    torch = importlib.import_module("torch")
    if job["device"] == "npu":
        importlib.import_module("torch_npu")
        torch.npu.set_device(job["cards"][rank])
    distributed = importlib.import_module("torch.distributed")
    world = len(job["cards"])
    place = "cpu" if job["torch_device"] == "cpu" else f"{job['torch_device']}:{job['cards'][rank]}"
    backend = "hccl" if job["torch_device"] == "npu" else "gloo"
    distributed.init_process_group(
        backend, init_method=f"tcp://127.0.0.1:{job['port']}", rank=rank, world_size=world, timeout=datetime.timedelta(seconds=SECONDS)
    )
    large = LARGE if job["device"] == "npu" else LARGE_CPU
    wanted = world * (world + 1) / 2
    seconds, wrong = {}, ""
    for size in (SMALL, large):
        vector = torch.full((size,), float(rank + 1), dtype=torch.float32, device=place)
        distributed.all_reduce(vector)
        got = vector.to("cpu")
        if not bool((got == wanted).all()):
            wrong = f"{size} elements: {float(got.min())} to {float(got.max())} instead of {wanted}"
        distributed.barrier()
        start = time.perf_counter()
        for _ in range(TIMES):
            distributed.all_reduce(vector)
        if job["device"] == "npu":
            torch.npu.synchronize()
        seconds[size] = (time.perf_counter() - start) / TIMES
    result = {"right": not wrong, "wrong": wrong, "bytes": 4 * large, "seconds": seconds[large], "small_seconds": seconds[SMALL]}
    with open(os.path.join(job["folder"], f"rank-{rank}.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)
    distributed.destroy_process_group()


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: the names in it are ordinary words
    one(int(sys.argv[1]), json.loads(sys.argv[2]))
