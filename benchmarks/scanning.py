"""Measures the scan of large logs, against ripgrep and against itself on other forms of the same log."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.inputs import compressed, faulty_log, large_log, many_files
from benchmarks.measuring import Promise, in_turn, one_core, sample

FILES = 2000

LITERALS = "from doctor.rulebook import load; print('\\n'.join(sorted({l for ls in load().literals.values() for l in ls})))"


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
