"""The lines of a text of any size, by number, in flat memory.

Contract: lines count from 0, are cleaned, and are cut where they are longer than `LONGEST`; nothing raises because a file shrinks or vanishes
while it is shown. Counting and searching may run in a thread while another one asks for lines. Knows no Textual.
"""

from __future__ import annotations

import os
import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from doctor.text import clean, decode

BLOCK = 256 * 1024
"""Bytes between the places whose line numbers are remembered: 8 bytes for each of them."""

SOON = 32
"""Blocks of a file whose lines are counted before it is shown; the others afterwards."""

LONGEST = 64 * 1024
"""Bytes of one line that are shown."""

CUT = " [...]"
"""Stands where a longer line was cut."""


def _never() -> bool:
    return False


def _to_nobody(share: float) -> None:
    pass


Stopped = Callable[[], bool]
"""Asked again and again: whether nobody waits for it any more."""

Heard = Callable[[float], None]
"""Told how much of it is done, from 0 to 1."""


class Lines(Protocol):
    """Lines that can be asked for one by one."""

    @property
    def count(self) -> int:
        """As far as they are counted."""
        ...

    @property
    def counted(self) -> bool:
        """Whether that is all of them."""
        ...

    def count_on(self, stopped: Stopped, heard: Heard) -> None:
        """Counts the others. Blocks."""
        ...

    def line(self, number: int) -> str:
        """The line, "" where there is none."""
        ...

    def find(self, text: str, start: int, *, backward: bool = False, stopped: Stopped = _never, heard: Heard = _to_nobody) -> int | None:
        """The nearest line from `start` on (or back) that holds the text, whatever its case; round the end. None: nowhere, or stopped. Blocks."""
        ...


class TextLines:
    """Lines of a text in memory."""

    def __init__(self, text: str) -> None:
        self._lines = clean(text).rstrip("\n").split("\n")

    @property
    def count(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        if not 0 <= number < len(self._lines):
            return ""
        text = self._lines[number]
        return text[:LONGEST].expandtabs(8) + (CUT if len(text) > LONGEST else "")

    @property
    def counted(self) -> bool:
        return True

    def count_on(self, stopped: Stopped, heard: Heard) -> None:
        """There are no others."""

    def find(self, text: str, start: int, *, backward: bool = False, stopped: Stopped = _never, heard: Heard = _to_nobody) -> int | None:
        wanted, count = text.lower(), self.count
        for step in range(count):
            number = (start - step if backward else start + step) % count
            if wanted in self._lines[number].lower():
                return number
            if step % 10_000 == 0 and stopped():
                return None
        return None


class FileLines:
    """Lines of a file. Those of its start are there at once; `count_on` counts the others, at the speed of the disk."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  closed with the screen
        self._size = max(1, os.fstat(self._file.fileno()).st_size)
        self._closing, self._counting = threading.Lock(), threading.Lock()
        self._before = array("Q", [0])  # newlines before each block, and behind the last one
        self._cached: tuple[int, list[str]] = (-1, [])
        self._last = b"\n"
        self.counted = False
        for _ in range(SOON):
            self._count_block()

    def close(self) -> None:
        with self._closing:
            self._file.close()

    @property
    def count(self) -> int:
        return self._before[-1] + (self._last != b"\n")

    def count_on(self, stopped: Stopped, heard: Heard) -> None:
        with self._counting:  # a search that came first has begun with it
            while not self.counted and not stopped():
                self._count_block()
                heard(min(1.0, len(self._before) * BLOCK / self._size))

    def _count_block(self) -> None:
        data = b"" if self.counted else self._read(len(self._before) - 1, BLOCK)
        if data:
            self._last = data[-1:]
            self._before.append(self._before[-1] + data.count(b"\n"))
        self.counted = len(data) < BLOCK

    def _read(self, block: int, size: int) -> bytes:
        with self._closing:
            try:
                return os.pread(self._file.fileno(), size, block * BLOCK)
            except (OSError, ValueError):
                return b""

    def line(self, number: int) -> str:
        if not 0 <= number < self.count:
            return ""
        block = max(0, bisect_left(self._before, number) - 1)
        if self._cached[0] != block:
            self._cached = block, self._block(block)
        lines, at = self._cached[1], number - self._before[block]
        return lines[at] if at < len(lines) else ""

    def _block(self, block: int) -> list[str]:
        """The end of the line before, then every line that begins behind a newline of this block."""
        parts = self._read(block, BLOCK + LONGEST).split(b"\n")
        wanted = parts[: self._before[block + 1] - self._before[block] + 1]
        return [clean(decode(part[:LONGEST])).replace("\n", " ").expandtabs(8) + (CUT if len(part) > LONGEST else "") for part in wanted]

    def find(self, text: str, start: int, *, backward: bool = False, stopped: Stopped = _never, heard: Heard = _to_nobody) -> int | None:
        wanted = text.encode("utf-8", "replace").lower()
        self.count_on(stopped, lambda share: heard(share / 10))  # lines have no numbers before; it reads ahead of the search
        blocks = len(self._before) - 1
        first = max(0, bisect_left(self._before, start) - 1)
        for step in range(blocks + 1 if wanted else 0):  # the first block once more at the end, for the lines on its other side
            block = (first - step if backward else first + step) % max(1, blocks)
            for number in self._found(block, wanted, backward=backward):
                if step or (number <= start if backward else number >= start):
                    return number
            if stopped():
                return None
            heard(step / (blocks + 1))
        return None

    def _found(self, block: int, wanted: bytes, *, backward: bool) -> Iterator[int]:
        """The lines of the block's matches, from its start or from its end. An expression that ignores case is ten times slower than this."""
        data = self._read(block, BLOCK + len(wanted) - 1).lower()
        at = data.rfind(wanted) if backward else data.find(wanted)
        while at >= 0:
            yield self._before[block] + data.count(b"\n", 0, at)
            at = data.rfind(wanted, 0, at + len(wanted) - 1) if backward else data.find(wanted, at + 1)


__all__ = ["FileLines", "Heard", "Lines", "Stopped", "TextLines"]
