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
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.growing import growing
from benchmarks.measuring import Promise, as_installed
from benchmarks.scanning import scanning
from benchmarks.starting import checking, starting

HERE = Path(__file__).resolve().parent
WORSE = 4 / 3


def others(python: str, doctor: str, folder: Path, runs: int) -> Iterator[Promise]:
    """What the rooms promise of themselves: the app, the watch, fleets."""
    from benchmarks import fleet, tui, watch

    yield from (Promise(*row) for row in tui.measure(python, [doctor], folder, runs))
    yield from (Promise(*row) for row in watch.promises())
    yield from (Promise(*row) for row in fleet.promises())


def table(promises: Sequence[Promise]) -> str:
    rows = [f"| {one.name} | {one.measured:.2f} {one.unit} | {one.limit:.3g} {one.unit} | {'kept' if one.kept else 'NOT KEPT'} |" for one in promises]
    return "\n".join(["| what | measured | wanted at most | |", "|---|---|---|---|", *rows]) + "\n"


def regressions(promises: Sequence[Promise], committed: str) -> list[str]:
    """What is worse than the committed result by more than a third."""
    before = {name: float(value) for name, value in re.findall(r"^\| (.+?) \| ([\d.]+) ", committed, re.MULTILINE)}
    return [f"{one.name}: {before[one.name]:.2f} → {one.measured:.2f}" for one in promises if one.measured > WORSE * before.get(one.name, one.measured)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="rounds of which the median is taken; a third of them for large logs (default: 9)")
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the large logs; five of them lie in the temporary folder (default: 1000)")
    parser.add_argument("--only", choices=("starting", "checking", "scanning", "growing", "others"), action="append", help="measure only this part")
    parser.add_argument("--write", action="store_true", help="also write benchmarks/results.md")
    options = parser.parse_args()
    runs, few = max(1, options.runs), max(1, options.runs // 3)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
        python, doctor = as_installed(Path(folder) / "venv")
        where = python, doctor, Path(folder)
        parts = {
            "starting": starting(*where, runs),
            "checking": checking(*where, runs),
            "scanning": scanning(*where, few, options.megabytes),
            "growing": growing(*where, few, options.megabytes),
            "others": others(*where, few),
        }
        promises = [one for part in options.only or parts for one in parts[part]]
    result = table(promises)
    print(result, end="")
    results = HERE / "results.md"
    worse = regressions(promises, results.read_text(encoding="utf-8") if results.exists() else "")
    for line in worse:
        print(f"WORSE by more than a third: {line}")
    if options.write:
        machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs; wall time, medians of {runs} rounds."
        results.write_text(f"# Results\n\n{machine}\n\n{result}", encoding="utf-8")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
