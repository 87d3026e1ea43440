"""A step for tests: does what its job says, with the standard library only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing import shared_memory
from typing import Any


def run(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("begin")
    print(job.get("prints", "hello"), flush=True)
    getattr(sys.modules[__name__], "do_" + job["do"])(say, job)


def do_pass(say: Any, job: Mapping[str, Any]) -> None:
    say.figure("speed", 2.5, "GB/s", "card 0", 3.0)
    say.check("sum", True)
    say.note("version", "1.2")


def do_check(say: Any, job: Mapping[str, Any]) -> None:
    say.check("sum", False, "3 instead of 4")


def do_raise(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("import torch_npu")
    raise ImportError(job["text"])


def do_fail(say: Any, job: Mapping[str, Any]) -> None:
    raise say.fail("cards", "no card")


def do_crash(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("set device 0")
    os.kill(os.getpid(), signal.SIGSEGV)


def do_hang(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("all-reduce")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def do_spawn(say: Any, job: Mapping[str, Any]) -> None:
    """Grandchildren that get away: one leaves the session, one loses its parent too, one overwrites nothing but ignores SIGTERM."""
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    orphan = f"import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', {stubborn!r}], start_new_session=True)"
    for code, away in ((stubborn, False), (stubborn, True), (orphan, True)):
        subprocess.Popen([sys.executable, "-c", code], start_new_session=away, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    say.stage("spawned")
    if job.get("stay"):
        time.sleep(600)


def do_memory(say: Any, job: Mapping[str, Any]) -> None:
    """Shared memory that nobody frees: a process that is killed cannot."""
    segment = shared_memory.SharedMemory(create=True, size=4096, name=job["name"])
    assert segment.buf
    say.stage("made")
    time.sleep(job["wait"])
    os.kill(os.getpid(), signal.SIGKILL)


def do_flood(say: Any, job: Mapping[str, Any]) -> None:
    block = b"x" * 1023 + b"\n"
    os.write(1, b"the first line\n")
    for _ in range(4096):
        os.write(1, block)
    os.write(1, b"the last line\n")


def do_secret(say: Any, job: Mapping[str, Any]) -> None:
    print("key is", job["secret"])
    say.note("header", "Bearer " + job["secret"])


def do_environment(say: Any, job: Mapping[str, Any]) -> None:
    for name in job["names"]:
        say.note(name, os.environ.get(name, "(none)"))
    say.note("path", repr([entry for entry in sys.path if entry.endswith(("children", "steps"))]))


def do_port(say: Any, job: Mapping[str, Any]) -> None:
    say.occupied("port", str(job["port"]))
