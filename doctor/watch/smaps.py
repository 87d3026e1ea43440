"""What kind of memory a process has: /proc/PID/smaps summed by kind. Read only at an alarm, since the kernel walks every page for it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from doctor.host import KIB, MIB, Host, Unavailable

LIMIT = 64 * MIB
"""Bytes of smaps read: 60,000 mappings."""

KINDS = ("heap", "anonymous", "noreserve", "shared", "stack", "file", "device")
"""heap: glibc's main arena; anonymous: mmap, which holds Python's arenas, other arenas and large blocks; noreserve: anonymous with VmFlags nr,
as native allocators and transfer libraries map; shared: /dev/shm and memfd; file: libraries and weights, their private pages; device: /dev/…"""

_HEAD = re.compile(r"^[0-9a-f]{1,16}-[0-9a-f]{1,16} (\S{4}) [0-9a-f]{1,16} \S{1,12} \d{1,20} {0,40}(.{0,400})$", re.ASCII)
_FIELD = re.compile(r"^(Anonymous|Pss_Shmem|Rss|Swap|Pss|VmFlags): {1,20}(.{1,200})$", re.ASCII)


@dataclass(frozen=True)
class Kinds:
    """Bytes by kind: anonymous pages, for shared memory what is resident; `pss` is the proportional total."""

    by_kind: dict[str, int]
    pss: int
    mappings: int

    @property
    def private(self) -> int:
        return sum(self.by_kind.get(kind, 0) for kind in ("heap", "anonymous", "noreserve", "stack", "file"))

    @property
    def largest(self) -> str:
        return max(self.by_kind, key=lambda kind: self.by_kind[kind]) if self.by_kind else ""

    def share(self, kind: str) -> float:
        return self.by_kind.get(kind, 0) / self.private if self.private else 0.0


def parse_smaps(text: str) -> Kinds:
    """The sums; lines that fit nothing are passed over."""
    sums: dict[str, int] = {}
    pss = mappings = 0
    name, seen = "", dict[str, int]()
    flags = ""

    def close() -> None:
        kind = _kind(name, flags)
        amount = seen.get("Rss", 0) if kind in ("shared", "device") else seen.get("Anonymous", 0) + seen.get("Swap", 0)
        if amount:
            sums[kind] = sums.get(kind, 0) + amount

    for line in text.split("\n"):
        head = _HEAD.match(line)
        if head is not None:
            close()
            name, flags, mappings = head[2].strip(), "", mappings + 1
            seen.clear()
            continue
        field = _FIELD.match(line)
        if field is None:
            continue
        if field[1] == "VmFlags":
            flags = f" {field[2]} "
        elif (number := re.match(r"(\d{1,15}) kB", field[2])) is not None:
            seen[field[1]] = int(number[1]) * KIB
            pss += int(number[1]) * KIB if field[1] == "Pss" else 0
    close()
    return Kinds(sums, pss, mappings)


def _kind(name: str, flags: str) -> str:
    if name == "[heap]":
        return "heap"
    if name.startswith("[stack"):
        return "stack"
    if name.startswith(("/dev/shm/", "/memfd:", "/SYSV", "/dev/zero")):
        return "shared"
    if name.startswith("/dev/"):
        return "device"
    if not name or name.startswith("["):
        return "noreserve" if " nr " in flags else "anonymous"
    return "file"


def read_kinds(host: Host, pid: int) -> Kinds | Unavailable:
    text = host.read(f"/proc/{pid}/smaps", LIMIT)
    return text if isinstance(text, Unavailable) else parse_smaps(text)


def told(pid: int, kinds: Kinds) -> str:
    """As one event of the sample file."""
    return f"smaps {pid} " + " ".join(f"{kind}={kinds.by_kind[kind]}" for kind in KINDS if kinds.by_kind.get(kind))


def from_event(event: str) -> tuple[int, Kinds] | None:
    """The kinds that an event tells, and of which process."""
    words = event.split()
    if len(words) < 2 or words[0] != "smaps" or not words[1].isdecimal():
        return None
    pairs = (word.partition("=") for word in words[2:20])
    sums = {kind: int(value) for kind, _, value in pairs if kind in KINDS and value.isdecimal() and len(value) < 18}
    return int(words[1]), Kinds(sums, 0, 0)


__all__ = ["KINDS", "Kinds", "from_event", "parse_smaps", "read_kinds", "told"]
