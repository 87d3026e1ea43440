"""A step for tests: tells the figures of a load as the real one does, then waits for a file, so that a screen can be looked at meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any


def run(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("load of 4")
    print(job.get("prints", "hello"), flush=True)
    for second in range(8):
        say.figure("load, now", 100.0 + 50 * (second % 3), "tokens/s", str(second))
        say.figure("load, now", float(second), "requests/s", str(second))
    say.figure("latency p95", 1.25, "s")
    while not os.path.exists(job["until"]):
        time.sleep(0.02)
