"""Runs of doctor that stop for good at one boundary: a real child process that ends there without any clean-up, as after `kill -9`."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

STOPPED = 77


def points_of(run: Callable[[Callable[[str], None]], object]) -> list[str]:
    """Names of all boundaries that a whole run passes."""
    seen: list[str] = []
    run(seen.append)
    return seen


def stopped_at(number: int, run: Callable[[Callable[[str], None]], object], *, kill: bool = False) -> bool:
    """Runs in a child that ends at its `number`-th boundary; False where it came to its end before."""
    pid = os.fork()
    if pid == 0:
        count = 0

        def reached(point: str) -> None:
            nonlocal count
            count += 1
            if count == number:
                if kill:
                    os.kill(os.getpid(), signal.SIGKILL)
                os._exit(STOPPED)

        try:
            run(reached)
        except BaseException:  # noqa: BLE001  the child may not go on into the test run
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, STOPPED, -signal.SIGKILL), f"the run itself failed: {code}"
    return code != 0
