"""Measures what the doctor promises about speed and memory, each against a yardstick that runs in turn with it.

Contract: prints one table of medians; exits with 1 if a ratio is worse than the one in benchmarks/results.md by more than a third.
Ratios are taken within one run on one machine, so that they compare between machines; `--write` writes results.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import growing, plot
from benchmarks.measuring import Promise, alone, as_installed
from benchmarks.reading import reading
from benchmarks.scanning import huge, scanning
from benchmarks.starting import checking, starting
from benchmarks.yardstick import msprechecker

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.md"
GROWTH = HERE.parent / "docs" / "images" / "growth.svg"
WORSE = 4 / 3


@dataclass(frozen=True)
class Asked:
    """How to measure: the installed Python and doctor, a folder for inputs, rounds of short and of long commands, megabytes of large logs."""

    python: str
    doctor: str
    folder: Path
    runs: int
    few: int
    megabytes: int
    write: bool


def _growing(asked: Asked) -> Iterator[Promise]:
    curves = growing.measure(asked.folder)
    if asked.write:
        GROWTH.write_text(plot.svg(curves), encoding="utf-8")
    yield from growing.promises(curves)


def _app(asked: Asked) -> Iterator[Promise]:
    from benchmarks import tui

    yield from (Promise(*row) for row in tui.measure(asked.python, [asked.doctor], asked.folder, asked.few))


PARTS: Mapping[str, Callable[[Asked], Iterator[Promise]]] = {
    "starting": lambda asked: starting(asked.python, asked.doctor, asked.folder, asked.runs),
    "checking": lambda asked: checking(asked.python, asked.doctor, asked.folder, asked.runs),
    "scanning": lambda asked: scanning(asked.python, asked.doctor, asked.folder, asked.few, asked.megabytes),
    "huge": lambda asked: huge(asked.python, asked.doctor, asked.folder, 1),
    "reading": lambda asked: reading(asked.python, asked.doctor, asked.folder, asked.few, asked.megabytes),
    "growing": _growing,
    "app": _app,
    "watch": lambda asked: iter(alone("watch")),
    "fleet": lambda asked: iter(alone("fleet")),
}


def table(promises: Sequence[Promise]) -> str:
    rows = [f"| {one.name} | {one.measured:.2f} {one.unit} | {one.limit:.3g} {one.unit} | {'kept' if one.kept else 'NOT KEPT'} |" for one in promises]
    return "\n".join(["| what | measured | wanted at most | |", "|---|---|---|---|", *rows]) + "\n"


def regressions(promises: Sequence[Promise], committed: str) -> list[str]:
    """What is worse than the committed result by more than a third. What was not measured before, or is not now, is no matter."""
    before = {name: float(value) for name, value in re.findall(r"^\| (.+?) \| ([\d.]+) ", committed, re.MULTILINE)}
    return [f"{one.name}: {before[one.name]:.2f} → {one.measured:.2f}" for one in promises if one.measured > WORSE * before.get(one.name, one.measured)]


def merged(promises: Sequence[Promise], committed: str) -> str:
    """The committed table with the rows that were measured anew in their places, and new rows at its end."""
    rows = table(promises).splitlines(keepends=True)
    head, new = "".join(rows[:2]), {row.split(" | ")[0]: row for row in rows[2:]}
    kept = [row for row in committed.splitlines(keepends=True) if row.startswith("| ") and not row.startswith("| what |")]
    return head + "".join(new.pop(row.split(" | ")[0], row) for row in kept) + "".join(new.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="rounds of which the median is taken; a third of them for large logs (default: 9)")
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the large logs; four forms of them lie in the temporary folder (default: 1000)")
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="measure only this part")
    parser.add_argument("--huge", action="store_true", help="also 10 GB, through a pipe: some minutes")
    parser.add_argument("--write", action="store_true", help="also write benchmarks/results.md (rows of other parts stay) and docs/images/growth.svg")
    options = parser.parse_args()
    parts = options.only or [part for part in PARTS if part != "huge"]
    parts += ["huge"] if options.huge and "huge" not in parts else []
    runs = max(1, options.runs)
    with tempfile.TemporaryDirectory() as folder:
        if "checking" in parts and (other := msprechecker()):  # before the cache is another one
            os.environ["PATH"] = f"{os.environ.get('PATH', '')}{os.pathsep}{other}"
        python, doctor = as_installed(Path(folder) / "venv")
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
        asked = Asked(python, doctor, Path(folder), runs, max(1, runs // 3), options.megabytes, options.write)
        promises = [one for part in parts for one in PARTS[part](asked)]
    result = table(promises)
    print(result, end="")
    committed = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    worse = regressions(promises, committed)
    for line in worse:
        print(f"WORSE by more than a third: {line}")
    if options.write:
        machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs; medians of {runs} rounds, of {asked.few} for large logs."
        RESULTS.write_text(f"# Results\n\n{machine}\n\n{merged(promises, committed)}", encoding="utf-8")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
