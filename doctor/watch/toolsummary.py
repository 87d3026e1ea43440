"""What the output of a memory tool says, in one shape: totals, the largest places, sums by library. Pure data and its sums."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

SHOWN = 10


class UnreadableError(ValueError):
    """A file that cannot be summed up; the text says why and what to do instead."""


@dataclass(frozen=True)
class Place:
    """One place that allocated. `blocks` None: not told."""

    size: float
    blocks: int | None
    where: str
    library: str


@dataclass(frozen=True)
class Device:
    """What torch's allocator holds on one device, bytes."""

    device: int
    reserved: int
    active: int
    segments: int
    largest_free: int = 0


@dataclass(frozen=True)
class ToolSummary:
    """`tool`: memcheck, memray, tracemalloc, jemalloc or snapshot. `total` in bytes."""

    tool: str
    total: float
    places: tuple[Place, ...] = ()
    devices: tuple[Device, ...] = ()
    complete: bool = True
    """False where the file ends before its end (no LEAK SUMMARY)."""

    @property
    def libraries(self) -> tuple[tuple[str, float], ...]:
        """Sums by library or package, the largest first."""
        sums: dict[str, float] = {}
        for place in self.places:
            sums[place.library] = sums.get(place.library, 0.0) + place.size
        return tuple(sorted(sums.items(), key=lambda pair: -pair[1]))


def library_of(path: str) -> str:
    """The package or library a file belongs to: "torch" of …/site-packages/torch/nn/x.py, "libascendcl.so" of its path, "python" of the standard library."""
    packaged = re.search(r"(?:site|dist)-packages/([^/:]{1,80})", path)
    if packaged is not None:
        return packaged[1].removesuffix(".py")
    if re.search(r"/python3(?:\.\d{1,2})?/", path) or path.startswith("<frozen"):
        return "python"
    return re.sub(r":\d{1,9}$", "", posixpath.basename(path)[:80]) or "unknown"


def largest(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=lambda place: -place.size))


__all__ = ["Device", "Place", "SHOWN", "ToolSummary", "UnreadableError", "largest", "library_of"]
