"""Measures what the doctor promises about speed and memory, each against a yardstick that runs in turn with it.

Contract: prints one table of medians; exits with 1 if a ratio is worse than the one in benchmarks/results.md by more than a third.
Ratios are taken within one run on one machine, so that they compare between machines; `--write` writes results.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.inputs import compressed, faulty_log, large_log, many_files, small_log
from benchmarks.measuring import Promise, as_installed, in_turn, one_core, sample

HERE = Path(__file__).resolve().parent
HOST = HERE.parent / "fixtures" / "hosts" / "a3-healthy"
WORSE = 4 / 3
FILES = 2000

LITERALS = "from doctor.rulebook import load; print('\\n'.join(sorted({l for ls in load().literals.values() for l in ls})))"
FACTS = """
import sys
from pathlib import Path
from doctor.cli import run
import doctor.rulebook
if sys.argv[1] == "facts":
    doctor.rulebook.load = lambda: doctor.rulebook.Rulebook({}, {})
    import doctor.examine as examine
    from doctor.facts import providers
    finish = examine._finish
    def read(kind, label, sets, *rest):
        for one in sets:
            for fact in providers():
                one.facts.get(fact)
        return finish(kind, label, sets, *rest)
    examine._finish = read
sys.exit(run(["--json", "--from", sys.argv[2]]))
"""
"""Doctor with its rules, or with all facts read and no rule at all."""


def starting(python: str, doctor: str, folder: Path, runs: int) -> Iterator[Promise]:
    """What a user waits for before anything is looked at, and the checks."""
    log = folder / "small.log"
    small_log(log)
    nothing, version, usage, read = in_turn(
        [
            lambda: sample([python, "-c", "pass"]),
            lambda: sample([doctor, "--version"]),
            lambda: sample([doctor, "--help"]),
            lambda: sample([doctor, "log", str(log)]),
        ],
        runs,
    )
    yield Promise("`doctor --version` / `python -c pass`", version.seconds / nothing.seconds, 3)
    yield Promise("`doctor --help` / `python -c pass`", usage.seconds / nothing.seconds, 3)
    yield Promise("`doctor log`, 100 kB / `python -c pass`", read.seconds / nothing.seconds, 8)


def checking(python: str, doctor: str, _folder: Path, runs: int) -> Iterator[Promise]:
    """A check of this machine and of a recorded one."""
    commands = [
        lambda: sample([doctor, "--json"]),
        lambda: sample([python, "-c", FACTS, "rules", str(HOST)]),
        lambda: sample([python, "-c", FACTS, "facts", str(HOST)], accepted=(0, 1, 3)),  # 3: no rule could look
    ]
    other = shutil.which("msprechecker")
    if other:
        commands.append(lambda: sample([str(other), "precheck"]))
    check, rules, facts, *yardstick = in_turn(commands, runs)
    if yardstick:
        yield Promise("`doctor --json` / `msprechecker precheck`, this machine", check.seconds / yardstick[0].seconds, 1)
    else:
        print("Left out: msprechecker is not on PATH (pip install msprechecker==0.4.0 into an environment of its own).", file=sys.stderr)
    yield Promise("`doctor --json` / its facts without rules, a recorded server", rules.seconds / facts.seconds, 1.3)
    yield Promise("`doctor --json`, this machine, peak memory", check.megabytes, 80, "MB")


def scanning(python: str, doctor: str, folder: Path, runs: int, megabytes: int) -> Iterator[Promise]:
    """Large logs."""
    plain, faulty, files = folder / "large.log", folder / "faulty.log", folder / "files"
    large_log(plain, megabytes)
    faulty_log(faulty, megabytes)
    many_files(files, megabytes, FILES)
    as_gzip, as_zstd = compressed(plain)
    (folder / "literals").write_text(sample([python, "-c", LITERALS]).output, encoding="utf-8")
    log = [doctor, "log"]
    commands = [
        lambda: sample([*log, str(plain)], one_core),
        lambda: sample([*log, str(faulty)], one_core),
        lambda: sample([*log, str(files)], one_core),
        lambda: sample([*log, str(as_gzip)], one_core),
        lambda: sample([*log, str(as_zstd)], one_core),
        lambda: sample(["gzip", "-dc", str(as_gzip)], one_core),
        lambda: sample([python, "-c", "import sys,zstandard; zstandard.ZstdDecompressor().copy_stream(open(sys.argv[1],'rb'),open('/dev/null','wb'))", str(as_zstd)], one_core),
        lambda: sample([*log, str(plain)]),
    ]
    ripgrep = shutil.which("rg")
    if ripgrep:
        commands.append(lambda: sample([str(ripgrep), "-c", "-F", "-f", str(folder / "literals"), str(plain)], one_core))
    one, dirty, many, unzipped, unzstd, gzip_alone, zstd_alone, two, *yardstick = in_turn(commands, runs)
    size = f"{megabytes} MB"
    if yardstick:
        yield Promise(f"`doctor log` / `rg -c -F -f`, {size}, one core", one.seconds / yardstick[0].seconds, 1)
    else:
        print("Left out: rg (ripgrep) is not on PATH.", file=sys.stderr)
    yield Promise(f"`doctor log`, {size}, peak memory", one.megabytes, 200, "MB")
    yield Promise(f"1% matching lines / few, {size}", dirty.seconds / one.seconds, 3)
    yield Promise(f"{FILES} files / one, {size}", many.seconds / one.seconds, 3)
    yield Promise(f"gzip / (gunzip + 1.3 × plain), {size}", unzipped.seconds / (gzip_alone.seconds + 1.3 * one.seconds), 1)
    yield Promise(f"zstd / (unzstd + 1.3 × plain), {size}", unzstd.seconds / (zstd_alone.seconds + 1.3 * one.seconds), 1)
    if len(os.sched_getaffinity(0)) > 1:
        yield Promise(f"all cores / one core, time, {size}", two.seconds / one.seconds, 1 / 1.7)


def growing(_python: str, doctor: str, folder: Path, runs: int, megabytes: int) -> Iterator[Promise]:
    """Time against size: ten times the log takes at most ten times as long."""
    small, large = folder / "tenth.log", folder / "whole.log"
    large_log(small, max(1, megabytes // 10))
    large_log(large, max(10, megabytes))
    little, much = in_turn([lambda: sample([doctor, "log", str(small)], one_core), lambda: sample([doctor, "log", str(large)], one_core)], runs)
    yield Promise("ten times the log / the log", much.seconds / little.seconds, 10)


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
