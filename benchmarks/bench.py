"""Measures what the doctor promises about speed and memory, each against a yardstick that runs in turn with it.

Contract: prints one table of medians; exits with 1 if a promise is not kept. Ratios are taken within one run on one machine,
so that they compare between machines; nothing is written unless `--write` asks for benchmarks/results.md.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import random
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
SEED = 20240910
SMALL_LOG = 100_000
"""Bytes."""

HEALTHY = (
    "INFO {month:02}-{day:02} {hour:02}:{minute:02}:{second:02} [loggers.py:118] Engine 000: Avg prompt throughput: {a}.{b} tokens/s, Running: {e} reqs",
    'INFO:     127.0.0.1:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    "[INFO] RUNTIME({pid},python3):2025-{month:02}-{day:02}-{hour:02}:{minute:02}:{second:02}.{micro:06} [stream.cc:{a}] stream synchronized",
)
FAULT = "(EngineCore_DP0 pid=775) ERROR RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)\n"


@dataclass(frozen=True)
class Sample:
    """One run of one command: wall time in seconds, peak resident memory in MB."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Promise:
    """One number that must not exceed `limit`, in `unit`."""

    name: str
    measured: float
    limit: float
    unit: str

    @property
    def kept(self) -> bool:
        return self.measured <= self.limit


def small_log(path: Path) -> None:
    """A healthy server's log with one fault in the middle; the same text in every run."""
    draw = random.Random(SEED)
    lines: list[str] = []
    size = 0
    while size < SMALL_LOG:
        numbers = {name: draw.randint(1, 9) for name in "abcdef"}
        moment = {"month": draw.randint(1, 12), "day": draw.randint(1, 28), "hour": draw.randint(0, 23), "minute": draw.randint(0, 59)}
        rest = {"second": draw.randint(0, 59), "micro": draw.randint(0, 999_999), "port": draw.randint(32768, 60999), "pid": draw.randint(2, 99_999)}
        line = draw.choice(HEALTHY).format(**numbers, **moment, **rest) + "\n"
        lines.append(line)
        size += len(line)
    lines.insert(len(lines) // 2, FAULT)
    path.write_text("".join(lines), encoding="utf-8")


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


def sample(argv: Sequence[str], accepted: Sequence[int]) -> Sample:
    """Runs `argv` once. Peak memory is the kernel's figure for the process and the children it waited for."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in accepted:
        raise SystemExit(f"{' '.join(argv)} exited with {child.returncode}")
    return Sample(seconds, usage.ru_maxrss / 1024)


def in_turn(commands: Sequence[Callable[[], Sample]], runs: int) -> list[Sample]:
    """Medians of `runs` rounds; in a round each command runs once, so that a busy moment hits all of them. One more round warms up."""
    rounds = [[command() for command in commands] for _ in range(runs + 1)][1:]
    return [
        Sample(statistics.median(one.seconds for one in column), statistics.median(one.megabytes for one in column)) for column in zip(*rounds, strict=True)
    ]


def measure(runs: int) -> list[Promise]:
    """Exit code 1 is accepted where the doctor judges: what it finds on this machine is not the matter here."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "small.log"
        small_log(log)
        python, doctor = as_installed(Path(folder) / "venv")
        nothing, version, check, read = in_turn(
            [
                lambda: sample([python, "-c", "pass"], [0]),
                lambda: sample([doctor, "--version"], [0]),
                lambda: sample([doctor, "--json"], [0, 1]),
                lambda: sample([doctor, "log", str(log)], [0, 1]),
            ],
            runs,
        )
    return [
        Promise("`doctor --version` / `python -c pass`", version.seconds / nothing.seconds, 3, "x"),
        Promise("`doctor log`, 100 kB / `python -c pass`", read.seconds / nothing.seconds, 8, "x"),
        Promise("`doctor --json`, this machine, wall time", check.seconds, 1, "s"),
        Promise("`doctor --json`, this machine, peak memory", check.megabytes, 80, "MB"),
    ]


def table(promises: Sequence[Promise]) -> str:
    rows = [f"| {one.name} | {one.measured:.2f} {one.unit} | {one.limit:g} {one.unit} | {'kept' if one.kept else 'NOT KEPT'} |" for one in promises]
    return "\n".join(["| what | measured | at most | |", "|---|---|---|---|", *rows]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="rounds of which the median is taken (default: 9)")
    parser.add_argument("--write", action="store_true", help="also write benchmarks/results.md")
    options = parser.parse_args()
    promises = measure(max(1, options.runs))
    result = table(promises)
    print(result, end="")
    if options.write:
        machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs, medians of {options.runs} rounds."
        (HERE / "results.md").write_text(f"# Results\n\n{machine}\n\n{result}", encoding="utf-8")
    return 0 if all(one.kept for one in promises) else 1


if __name__ == "__main__":
    sys.exit(main())
