"""What `doctor watch` costs while it follows 64 processes at 30 s: processor time, memory, bytes a day in the sample file.

Contract: `promises()` gives (name, measured, limit, unit) for `bench.py`; alone it prints them. Processes are real, histories of a day are made.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from doctor.host.live import LiveHost  # noqa: E402
from doctor.watch.sample import HostSample, ProcessSample, Sample, to_line  # noqa: E402
from doctor.watch.sampler import DISCOVER_EVERY, Sampler, Target  # noqa: E402
from doctor.watch.session import JUDGE_EVERY, Session  # noqa: E402

PROCESSES = 64
EVERY = 30.0
DAY = 86400.0
ROUNDS = 30


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time for one look, one listing of all processes, one judgement of a day; MB of memory with a day's history; bytes a line."""

    look: float
    listing: float
    judging: float
    megabytes: float
    line: int

    @property
    def share(self) -> float:
        """Of one core, in percent."""
        return 100 * (self.look / EVERY + self.listing / DISCOVER_EVERY + self.judging / (JUDGE_EVERY * EVERY))


@contextmanager
def sleepers() -> Iterator[None]:
    """63 children beside ourselves."""
    children = [subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]) for _ in range(PROCESSES - 1)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def measure() -> Cost:
    with sleepers():
        sampler = Sampler(LiveHost(), Target(pids=(os.getpid(),)), EVERY, npu_every=float("inf"))
        first = sampler.sample()
        assert len(first.processes) == PROCESSES, len(first.processes)
        begin = time.process_time()
        for _ in range(ROUNDS):
            line = to_line(sampler.sample())
        look = (time.process_time() - begin) / ROUNDS
        begin = time.process_time()
        sampler._discover(0.0, (), [])
        listing = time.process_time() - begin
    session = day()
    begin = time.process_time()
    session._judged_at = 0
    session.judged()
    judging = time.process_time() - begin
    return Cost(look, listing, judging, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(line))


def day() -> Session:
    """A day of 64 processes, each with its noise, half of them with a slow leak: the dearest to judge."""
    draw = random.Random(1)
    session = Session()
    gib = 1 << 30
    for step in range(int(DAY / EVERY)):
        rows = tuple(
            ProcessSample(100 + n, 1, "worker", f"VLLM::Worker_TP{n}", gib + int(draw.gauss(0, 1e6)) + (n % 2) * step * 10_000, 0, n * step, 0, fds=100 + step % 40, threads=60)
            for n in range(PROCESSES)
        )
        session.history.add(Sample(1e9 + EVERY * step, EVERY * step, "b", EVERY, rows, HostSample(available=gib), metrics={"requests": 10.0 * step, "running": 5.0 + step % 3}))
    gc.collect()
    return session


def promises() -> list[tuple[str, float, float, str]]:
    """(name, measured, limit, unit)."""
    cost = measure()
    return [
        (f"doctor watch, {PROCESSES} processes every {EVERY:.0f} s: share of one core", cost.share, 1.0, "%"),
        ("doctor watch: memory with a day of history", cost.megabytes, 150.0, "MB"),
        ("doctor watch: sample file a day", cost.line * DAY / EVERY / 1e6, 40.0, "MB"),
    ]


if __name__ == "__main__":
    if "--json" in sys.argv[1:]:
        print(json.dumps(promises()))
    else:
        print(measure())
        for name, measured, limit, unit in promises():
            print(f"{name}: {measured:.3g} {unit} (at most {limit:g})")
