"""Processes, their environments and listening sockets, read from /proc. Bounded, and never raises for what it finds there."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping

from doctor.host import KIB, MIB, Listener, Process, Unavailable, Why
from doctor.host.tree import Tree
from doctor.text import clean, decode

ARGV_LIMIT = 64 * KIB
"""Bytes kept of one process's arguments."""
ENVIRON_LIMIT = 2 * MIB
"""Bytes kept of one process's environment; Linux lets it have a quarter of the stack limit, 2 MiB by default."""
TABLE_LIMIT = 16 * MIB
"""Bytes read of a table of sockets, 150 a line."""
MAX_DESCRIPTORS = 200_000
"""Open files looked at to find whose a socket is."""


def processes(tree: Tree) -> tuple[Process, ...] | Unavailable:
    """All processes that are still there when they are looked at, by number."""
    folders = tree.glob("/proc/[0-9]*")
    if isinstance(folders, Unavailable) or not folders:
        return Unavailable("processes", folders.why if isinstance(folders, Unavailable) else Why.MISSING, "/proc")
    boot = _boot_time(tree)
    found = (_process(tree, int(pid), boot) for pid in _pids(folders))
    return tuple(process for process in found if process)


def _pids(folders: Iterable[str]) -> list[int]:
    return sorted(int(name) for name in (folder.rpartition("/")[2] for folder in folders) if name.isdecimal())


def _boot_time(tree: Tree) -> int | None:
    text = tree.read("/proc/stat", MIB, tail=False)
    match = re.search(r"^btime ([0-9]{1,12})$", text, re.MULTILINE) if isinstance(text, str) else None
    return int(match[1]) if match else None


def _process(tree: Tree, pid: int, boot: int | None) -> Process | None:
    folder = f"/proc/{pid}"
    line = tree.read(f"{folder}/stat", 4 * KIB, tail=False)
    if isinstance(line, Unavailable):
        return None
    # The name stands in parentheses and may hold any character, parentheses and spaces among them.
    head, _, rest = line.rpartition(")")
    fields = rest.split()
    if len(fields) < 20 or not fields[1].isdecimal() or not fields[19].isdecimal():
        return None
    started = None if boot is None else boot + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    exe, cwd = (clean(tree.read_link(f"{folder}/{name}")) for name in ("exe", "cwd"))
    return Process(
        pid, int(fields[1]), head.partition("(")[2], _argv(tree, folder), exe.removesuffix(" (deleted)"), _uid(tree, folder), fields[0],
        started, cwd,
    )  # fmt: skip


def _argv(tree: Tree, folder: str) -> tuple[str, ...]:
    data = tree.read_bytes(f"{folder}/cmdline", ARGV_LIMIT)
    if isinstance(data, Unavailable) or not data:
        return ()
    # Processes that rename themselves fill the rest with NULs.
    return tuple(clean(decode(part)) for part in data.rstrip(b"\0").split(b"\0"))


def _uid(tree: Tree, folder: str) -> int | None:
    text = tree.read(f"{folder}/status", 8 * KIB, tail=False)
    match = re.search(r"^Uid:\s+([0-9]{1,10})\b", text, re.MULTILINE) if isinstance(text, str) else None
    return int(match[1]) if match else None


def environ(tree: Tree, pid: int) -> Mapping[str, str] | Unavailable:
    what = f"environment of process {pid}"
    data = tree.read_bytes(f"/proc/{pid}/environ", ENVIRON_LIMIT)
    if isinstance(data, Unavailable):
        return Unavailable(what, data.why, data.detail)
    pairs = (clean(decode(part)).partition("=") for part in data.split(b"\0"))
    return {name: value for name, _, value in pairs if name}


def listening(tree: Tree, of: str) -> tuple[Listener, ...] | Unavailable:
    """Listening TCP sockets in the network namespace of the process `of` (a number, or "self"), by port."""
    tables = [tree.read(f"/proc/{of}/net/{name}", TABLE_LIMIT, tail=False) for name in ("tcp", "tcp6")]
    if isinstance(tables[0], Unavailable):
        return Unavailable("listening sockets", tables[0].why, tables[0].detail or tables[0].what)
    rows = [row for table in tables if isinstance(table, str) for row in _listening_rows(table)]
    owners = _owners(tree, {inode for _, _, inode in rows})
    return tuple(sorted((Listener(address, port, owners.get(inode)) for address, port, inode in rows), key=lambda each: (each.port, each.address)))


def _listening_rows(table: str) -> Iterator[tuple[str, int, str]]:
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 9 and fields[3] == "0A":
            with contextlib.suppress(ValueError, OSError, struct.error):
                address, _, port = fields[1].partition(":")
                yield _address(bytes.fromhex(address)), int(port, 16), fields[9]


def _address(data: bytes) -> str:
    # Words of 32 bits in the byte order of the machine, which is little-endian on everything an NPU is put into.
    words = struct.unpack(f"<{len(data) // 4}I", data)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, struct.pack(f">{len(words)}I", *words))


def _owners(tree: Tree, wanted: set[str]) -> dict[str, int]:
    """Which process has the socket of each inode, as far as that may be read."""
    found: dict[str, int] = {}
    looked = 0
    folders = tree.glob("/proc/[0-9]*")
    for pid in _pids(folders) if isinstance(folders, tuple) else ():
        try:
            names = os.listdir(tree.real(f"/proc/{pid}/fd"))
        except OSError:  # another user's, or gone
            continue
        for name in names:
            looked += 1
            link = tree.read_link(f"/proc/{pid}/fd/{name}")
            inode = link[len("socket:[") : -1] if link.startswith("socket:[") else ""
            if inode in wanted:
                # The first is the parent that opened it; workers inherit it.
                found.setdefault(inode, pid)
        if looked > MAX_DESCRIPTORS or len(found) == len(wanted):
            break
    return found


__all__ = ["environ", "listening", "processes"]
