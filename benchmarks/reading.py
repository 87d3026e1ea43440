"""Measures the reading of a large bundle against `tar -t`."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.inputs import healthy
from benchmarks.measuring import Promise, in_turn, one_core, sample

OPEN = "import sys; from pathlib import Path; from doctor.bundle.opened import open_recorded; assert open_recorded(Path(sys.argv[1])).logs"
MEMBER = 50_000_000
"""Bytes of a log in it: doctor reads no longer one than 64 MiB."""


def reading(python: str, _doctor: str, folder: Path, runs: int, megabytes: int) -> Iterator[Promise]:
    """A bundle of logs, packed as others pack them. Beyond 1 GiB doctor refuses one."""
    if not shutil.which("tar"):
        print("Left out: tar is not on PATH.", file=sys.stderr)
        return
    path = folder / "bundle.tar.gz"
    size = min(1000, megabytes)
    large_bundle(path, size)
    opened, listed = in_turn([lambda: sample([python, "-c", OPEN, str(path)], one_core), lambda: sample(["tar", "-tzf", str(path)], one_core)], runs)
    yield Promise(f"reading a bundle / `tar -t`, {size} MB", opened.cpu / listed.cpu, 2)
    yield Promise(f"reading a bundle, {size} MB, peak memory", opened.megabytes, 500, "MB")
    path.unlink()


def large_bundle(path: Path, megabytes: int) -> None:
    """A snapshot whose logs take that much."""
    count = max(1, megabytes * 1_000_000 // MEMBER)
    block = "".join(healthy(1_000_000)).encode()
    log = block * max(1, round(megabytes * 1_000_000 / count / len(block)))
    names = {f"logs/{number:03}.log": f"server-{number}.log" for number in range(count)}
    manifest = {"schema_version": 1, "host": "large", "bundle": {"logs": names}}
    members = [("manifest.json", json.dumps(manifest).encode()), ("records.jsonl", b""), ("processes.json", b"[]"), *((name, log) for name in names)]
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in members:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
