"""How the benchmark measures: commands in turn, medians, the doctor as a wheel installs it."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Sample:
    """One run of one command: wall time in seconds, peak resident memory in MB, standard output, processor time in seconds (its own and the kernel's
    for it, children included)."""

    seconds: float
    megabytes: float
    output: str = ""
    cpu: float = 0.0


@dataclass(frozen=True)
class Promise:
    """One number that should not exceed `limit`, in `unit` (x: a ratio)."""

    name: str
    measured: float
    limit: float
    unit: str = "x"

    @property
    def kept(self) -> bool:
        return self.measured <= self.limit


def as_installed(folder: Path) -> tuple[str, str]:
    """(Python, doctor) of a venv laid out as the wheel lays it out, with the dependencies of this one.

    Not this venv itself: the hook of an editable install makes every start of Python slower, the yardstick's too, which flatters.
    """
    venv.create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE.parent / "doctor", site / "doctor", ignore=ignored)
    shutil.copytree(HERE.parent / "rules", site / "doctor" / "rules", ignore=ignored)
    compileall.compile_dir(site / "doctor", quiet=1)
    python, doctor = folder / "bin" / "python", folder / "bin" / "doctor"
    doctor.write_text(f"#!{python}\nimport sys\nfrom doctor.cli import main\nsys.exit(main())\n", encoding="utf-8")
    doctor.chmod(0o755)
    return str(python), str(doctor)


def one_core() -> None:
    """For a child before it becomes its command: it stays on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def sample(
    argv: Sequence[str], prepare: Callable[[], None] | None = None, accepted: Sequence[int] = (0, 1), cwd: Path | None = None, stdin: int = subprocess.DEVNULL
) -> Sample:
    """Runs `argv` once. Exit code 1 is accepted: what doctor finds is not the matter here. Peak memory is the kernel's figure for the
    process and the children it waited for."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        child = subprocess.Popen(argv, stdin=stdin, stdout=output, stderr=subprocess.DEVNULL, preexec_fn=prepare, cwd=cwd)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in accepted:
            raise SystemExit(f"{' '.join(argv)} exited with {child.returncode}")
        output.seek(0)
        return Sample(seconds, usage.ru_maxrss / 1024, output.read(16 * 2**20).decode("utf-8", "replace"), usage.ru_utime + usage.ru_stime)


def in_turn(commands: Sequence[Callable[[], Sample]], runs: int) -> list[Sample]:
    """Medians of `runs` rounds; in a round each command runs once, so that a busy moment hits all of them. One more round warms up."""
    rounds = [[command() for command in commands] for _ in range(runs + 1)][1:]
    return [_median(column) for column in zip(*rounds, strict=True)]


def _median(column: Sequence[Sample]) -> Sample:
    seconds, megabytes, cpu = (statistics.median(values) for values in zip(*((one.seconds, one.megabytes, one.cpu) for one in column), strict=True))
    return Sample(seconds, megabytes, cpu=cpu)


def alone(module: str, *arguments: str) -> list[Promise]:
    """The rows of a module of this folder, measured in a process of its own: its memory is then no other part's."""
    argv = [sys.executable, "-m", f"benchmarks.{module}", "--json", *arguments]
    found = subprocess.run(argv, cwd=HERE.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return [Promise(*row) for row in json.loads(found.stdout)]
