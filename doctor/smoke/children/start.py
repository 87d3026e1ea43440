"""Starts one step in the target's interpreter: `python start.py JOB.json EVENTS LIFELINE` (two descriptors).

Contract: events are JSON objects, one a line, on the descriptor EVENTS; what the step or its libraries print is only kept. When the
other end of LIFELINE closes, doctor is gone, and the whole process group ends itself. SIGUSR2 prints where every thread stands.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any


class StepFailed(Exception):
    """The step found something wrong that is no exception of a library: `check` is its name, the text says what was seen."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


class Say:
    """How a step tells what it does. `stage` names what comes next; `figure` a measured number; `check` a comparison."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def _tell(self, event: str, **values: Any) -> None:
        line = json.dumps({"event": event, **values}, ensure_ascii=True, default=str, allow_nan=True) + "\n"
        with self._lock, contextlib.suppress(OSError):
            os.write(self._descriptor, line.encode()[: 32 * 1024])

    def stage(self, name: str, seconds: float | None = None) -> None:
        """`seconds`: how long this may take, told to the reader."""
        self._tell("stage", name=name, seconds=seconds)

    def figure(self, name: str, value: float, unit: str, subject: str = "", expected: float | None = None) -> None:
        self._tell("figure", name=name, value=value, unit=unit, subject=subject, expected=expected)

    def check(self, name: str, passed: bool, detail: str = "", subject: str = "") -> None:
        """A failed check does not end the step: others may tell more."""
        self._tell("check", name=name, passed=bool(passed), detail=detail, subject=subject)

    def note(self, name: str, detail: str = "") -> None:
        """Something left out, with the reason; or what was found on the way."""
        self._tell("note", name=name, detail=detail)

    def occupied(self, kind: str, name: str) -> None:
        """Something outside of processes and the work folder that must be free again afterwards (kind: port)."""
        self._tell("occupied", kind=kind, name=name)

    def fail(self, check: str, text: str) -> StepFailed:
        """To be raised: `raise say.fail("count", "…")`."""
        return StepFailed(check, text)

    @contextlib.contextmanager
    def timed(self, name: str, subject: str = "") -> Iterator[None]:
        """The stage, and how long it took as a figure."""
        import time

        self.stage(name)
        start = time.monotonic()
        yield
        self.figure(name, round(time.monotonic() - start, 3), "s", subject)

    def load(self, name: str) -> ModuleType:
        """Another file of this folder, as a module."""
        return load(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"))


def load(path: str) -> ModuleType:
    """A file as a module. It is not importable by its name: the names here are ordinary words, and must hide no package."""
    name = "doctor_smoke_" + os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _end_with_doctor(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.read(descriptor, 1)
    os.killpg(0, signal.SIGKILL)


def main(arguments: list[str]) -> int:
    job_path, events, lifeline = arguments[0], int(arguments[1]), int(arguments[2])
    for descriptor in (events, lifeline):
        os.set_inheritable(descriptor, False)
    threading.Thread(target=_end_with_doctor, args=(lifeline,), daemon=True).start()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    say = Say(events)
    try:
        load(job["script"]).run(say, job)
    except StepFailed as problem:
        say.check(problem.check, False, str(problem))
        print(f"{problem.check}: {problem}", file=sys.stderr, flush=True)
        return 1
    say.stage("end")
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Tearing an engine or a device down at the interpreter's end is judged as well, so that no os._exit hides a crash there.
    sys.exit(code)
