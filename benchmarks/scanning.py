"""Measures the scan of large logs: against ripgrep, against itself on other forms of the same log, on one core and on all.

Contract: figures of one core are processor time, those of all cores are time on the clock.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.inputs import BLOCK, compressed, faulty_log, healthy, large_log, many_files
from benchmarks.measuring import Promise, Sample, in_turn, one_core, sample

FILES = 2000
HUGE = 10_000
"""Megabytes of the largest log: it comes through a pipe, and takes no room on disk."""

LITERALS = """
import sys
from doctor.rulebook import load
healthy = open(sys.argv[1], encoding="utf-8").read(3_000_000).partition("\\n")[2]
print("\\n".join(sorted({literal for found in load().literals.values() for literal in found if literal not in healthy})))
"""
"""As many literals as the doctor looks for, without those few that stand in every healthy line: there ripgrep would stop at the first in each line."""

UNZSTD = "import sys,zstandard; zstandard.ZstdDecompressor().copy_stream(open(sys.argv[1],'rb'),open('/dev/null','wb'))"
FEED = "import sys\nblock = open(sys.argv[1], 'rb').read()\nfor _ in range(int(sys.argv[2])): sys.stdout.buffer.write(block)"

Command = Callable[[], Sample]


def scanning(python: str, doctor: str, folder: Path, runs: int, megabytes: int) -> Iterator[Promise]:
    """Large logs; each form of them lies on disk only while it is measured."""
    plain = folder / "large.log"
    large_log(plain, megabytes)
    (folder / "literals").write_text(sample([python, "-c", LITERALS, str(plain)]).output, encoding="utf-8")
    yield from _against_ripgrep(doctor, folder, runs, plain, megabytes)
    yield from _other_forms(python, doctor, folder, runs, plain, megabytes)


def _against_ripgrep(doctor: str, folder: Path, runs: int, plain: Path, megabytes: int) -> Iterator[Promise]:
    size, tenth = f"{megabytes} MB", folder / "tenth.log"
    large_log(tenth, max(3, megabytes // 10))
    commands: list[Command] = [lambda: sample([doctor, "log", str(plain)], one_core), lambda: sample([doctor, "log", str(tenth)], one_core)]
    ripgrep = shutil.which("rg")
    if ripgrep:
        commands.append(lambda: sample([str(ripgrep), "-c", "-F", "-f", str(folder / "literals"), str(plain)], one_core))
    one, less, *yardstick = in_turn(commands, runs)
    if yardstick:
        yield Promise(f"`doctor log` / `rg -c -F -f`, {size}, one core", one.cpu / yardstick[0].cpu, 1)
    else:
        print("Left out: rg (ripgrep) is not on PATH.", file=sys.stderr)
    yield Promise(f"`doctor log`, {size}, peak memory", one.megabytes, 200, "MB")
    yield Promise(f"its peak memory / that of a tenth of the log, {size}", one.megabytes / less.megabytes, 1.1)
    tenth.unlink()


def _other_forms(python: str, doctor: str, folder: Path, runs: int, plain: Path, megabytes: int) -> Iterator[Promise]:
    faulty, files = folder / "faulty.log", folder / "files"
    faulty_log(faulty, megabytes)
    many_files(files, megabytes, FILES)
    as_gzip, as_zstd = compressed(plain)
    on_one = [partial(sample, [doctor, "log", str(path)], one_core) for path in (plain, faulty, files, as_gzip, as_zstd)]
    on_all = [partial(sample, [doctor, "log", str(path)]) for path in (plain, files)]
    unpacking = [partial(sample, argv, one_core) for argv in (["gzip", "-dc", str(as_gzip)], [python, "-c", UNZSTD, str(as_zstd)])]
    one, dirty, many, unzipped, unzstd, gzip_alone, zstd_alone, two, many_two = in_turn([*on_one, *unpacking, *on_all], runs)
    size = f"{megabytes} MB"
    yield Promise(f"1% matching lines / few, {size}", dirty.cpu / one.cpu, 3)
    yield Promise(f"{FILES} files / one, {size}", many.cpu / one.cpu, 3)
    yield Promise(f"gzip / (gunzip + 1.3 × plain), {size}", unzipped.cpu / (gzip_alone.cpu + 1.3 * one.cpu), 1)
    yield Promise(f"zstd / (unzstd + 1.3 × plain), {size}", unzstd.cpu / (zstd_alone.cpu + 1.3 * one.cpu), 1)
    if len(os.sched_getaffinity(0)) > 1:
        yield Promise(f"all cores / one core, time, {size}", two.seconds / one.seconds, 1 / 1.7)
        yield Promise(f"all cores / one core, time, {FILES} files, {size}", many_two.seconds / many.seconds, 1 / 1.7)
    else:
        print("Left out: all cores against one; there is but one.", file=sys.stderr)
    for path in (plain, faulty, as_gzip, as_zstd):
        path.unlink()
    shutil.rmtree(files)


def huge(python: str, doctor: str, folder: Path, runs: int) -> Iterator[Promise]:
    """A log of 10 GB, through a pipe."""
    block, few = folder / "block.log", folder / "few.log"
    block.write_text("".join(healthy(BLOCK)), encoding="utf-8")
    large_log(few, 3)
    (folder / "literals").write_text(sample([python, "-c", LITERALS, str(few)]).output, encoding="utf-8")
    commands: list[Command] = [lambda: _piped([doctor, "log", "-"], python, block), lambda: _piped([doctor, "log", "-"], python, block, cores=None)]
    ripgrep = shutil.which("rg")
    if ripgrep:
        commands.append(lambda: _piped([str(ripgrep), "-c", "-F", "-f", str(folder / "literals"), "-"], python, block))
    one, every, *yardstick = in_turn(commands, runs)
    if yardstick:
        yield Promise(f"`doctor log` / `rg -c -F -f`, {HUGE} MB, one core", one.cpu / yardstick[0].cpu, 1)
    yield Promise(f"`doctor log`, {HUGE} MB, peak memory", one.megabytes, 200, "MB")
    if len(os.sched_getaffinity(0)) > 1:
        yield Promise(f"all cores / one core, time, {HUGE} MB", every.seconds / one.seconds, 1 / 1.7)


def _piped(argv: list[str], python: str, block: Path, cores: Callable[[], None] | None = one_core) -> Sample:
    with subprocess.Popen([python, "-c", FEED, str(block), str(HUGE)], stdout=subprocess.PIPE) as feed:
        assert feed.stdout is not None
        return sample(argv, cores, stdin=feed.stdout.fileno())
