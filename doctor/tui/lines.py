"""The lines of a text of any size, by number, in flat memory.

Contract: lines count from 0, are cleaned, and are cut where they are longer than `LONGEST`; nothing raises because a file shrinks or vanishes
while it is shown. Knows no Textual.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from pathlib import Path
from typing import Protocol

from doctor.text import clean, decode

BLOCK = 256 * 1024
"""Bytes between the places whose line numbers are remembered: 8 bytes for each of them."""

LONGEST = 64 * 1024
"""Bytes of one line that are shown."""

CUT = " [...]"
"""Stands where a longer line was cut."""


class Lines(Protocol):
    """Lines that can be asked for one by one."""

    @property
    def count(self) -> int: ...

    def line(self, number: int) -> str:
        """The line, "" where there is none."""
        ...

    def find(self, text: str, start: int, *, backward: bool = False) -> int | None:
        """The nearest line from `start` on (or back) that holds the text, whatever its case; round the end. None: nowhere."""
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

    def find(self, text: str, start: int, *, backward: bool = False) -> int | None:
        wanted, count = text.lower(), self.count
        for step in range(count):
            number = (start - step if backward else start + step) % count
            if wanted in self._lines[number].lower():
                return number
        return None


class FileLines:
    """Lines of a file; `scan` counts them once, at the speed of the disk."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  closed with the screen
        self._before = array("Q", [0])  # newlines before each block, and behind the last one
        self._cached: tuple[int, list[str]] = (-1, [])
        self._open_end = 0
        self._scan()

    def close(self) -> None:
        self._file.close()

    @property
    def count(self) -> int:
        return self._before[-1] + self._open_end

    def _scan(self) -> None:
        total, last, number = 0, b"", 0
        while data := self._read(number, BLOCK):
            total += data.count(b"\n")
            self._before.append(total)
            last, number = data[-1:], number + 1
        self._open_end = int(last != b"\n" and bool(last))

    def _read(self, block: int, size: int) -> bytes:
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

    def find(self, text: str, start: int, *, backward: bool = False) -> int | None:
        wanted = re.compile(re.escape(text.encode("utf-8", "replace")), re.IGNORECASE)
        blocks = len(self._before) - 1
        first = max(0, bisect_left(self._before, start) - 1)
        for step in range(blocks + 1):  # the first block once more at the end, for the lines on its other side
            block = (first - step if backward else first + step) % max(1, blocks)
            found = self._found(block, wanted)
            if step == 0:
                found = [number for number in found if (number <= start if backward else number >= start)]
            if found:
                return found[-1] if backward else found[0]
        return None

    def _found(self, block: int, wanted: re.Pattern[bytes]) -> list[int]:
        data = self._read(block, BLOCK + LONGEST)
        numbers, at, seen = [], 0, self._before[block]
        for match in wanted.finditer(data):
            if match.start() >= BLOCK:
                break
            seen += data.count(b"\n", at, match.start())
            at = match.start()
            numbers.append(seen)
        return numbers


__all__ = ["FileLines", "Lines", "TextLines"]
