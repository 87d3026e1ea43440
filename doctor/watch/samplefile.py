"""The sample file: lines of JSON, only ever appended to, bounded by rotation, read again from wherever it broke off.

Contract: a line that a crash cut short is skipped; nothing that stands in the file can make reading fail. The file and its folder belong to the
user alone (0600, 0700).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from doctor.watch.sample import LINE_LIMIT, Sample, from_line, to_line

LIMIT = 32 << 20
"""Bytes at which the file is renamed to `NAME.1` (replacing the one before): 64 MiB in all, five days of 64 processes at 30 s."""


class SampleFile:
    """A file that samples are appended to."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self.path, self._limit = path, limit

    def append(self, sample: Sample) -> None:
        """Writes one line. Raises OSError where the disk is full or the folder is gone: the caller tells it, once."""
        line = (to_line(sample) + "\n").encode()
        if len(line) > LINE_LIMIT:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # the last writer was cut off
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        if size + len(line) >= self._limit:
            os.replace(self.path, self.path.with_name(self.path.name + ".1"))


def read_samples(path: Path) -> Iterator[Sample]:
    """All samples of a file and of the one that it was rotated to, oldest first. Raises OSError where the file itself cannot be read."""
    older = path.with_name(path.name + ".1")
    present = [each for each in (older, path) if each.is_file()]
    if not path.is_file() and not present:
        path.stat()
    for each in present:
        with each.open(encoding="utf-8", errors="replace") as lines:
            while line := lines.readline(LINE_LIMIT):
                sample = from_line(line)
                if sample is not None:
                    yield sample


__all__ = ["LIMIT", "SampleFile", "read_samples"]
