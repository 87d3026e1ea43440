"""Collections that other tools made: the files and outputs of a sosreport as a host, and the texts of CANN's `asys collect` as logs.

Contract: as `doctor.host.recorded`: nothing that lies in a collection raises. What a collector did not take was not recorded, which
is not the same as missing.
"""

from __future__ import annotations

import fnmatch
import os
import pathlib
import posixpath
import re
import shlex
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Protocol

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Kind, Listener, Output, Process, Unavailable, Why
from doctor.host.plain import parse_date, parse_ps
from doctor.host.recorded import FolderMembers
from doctor.logscan.sources import Source
from doctor.text import clean, clean_line, decode

MOST_FILES = 50_000
MOST_LOGS = 60
LOG_LIMIT = 8 * 2**20
MAX_LINKS = 40

_SOS_LOGS = ("var/log/messages*", "var/log/syslog*", "var/log/kern.log*", "var/log/dmesg*", "var/log/npu/*", "var/log/ascend_seclog/*", "sos_commands/logs/journalctl*", "sos_commands/kernel/dmesg*")
_ASYS_TEXTS = ("software_info.txt", "hardware_info.txt", "status_info.txt", "health_result.txt")
_PACKED = (".gz", ".xz", ".bz2", ".zst", ".zip", ".tar", ".bin", ".o", ".json", ".so")


class Files(Protocol):
    """A collection's regular files and links, by name below its root."""

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def links(self) -> Mapping[str, str]: ...
    def get(self, name: str, limit: int) -> bytes | None: ...
    def size(self, name: str) -> int: ...


class FolderFiles:
    """A collection that somebody unpacked. Links are read, not followed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._members = FolderMembers(folder)
        self.name = self._members.name
        self._sizes: dict[str, int] = {}
        self.links: dict[str, str] = {}
        for root, folders, files in os.walk(folder, followlinks=False):
            folders.sort()
            for entry in (*files, *folders):
                path = os.path.join(root, entry)
                self._take(path, os.path.relpath(path, folder))
            if len(self._sizes) > MOST_FILES:
                break
        self.names = sorted(self._sizes)

    def _take(self, path: str, name: str) -> None:
        try:
            info = os.lstat(path)
            if stat.S_ISREG(info.st_mode):
                self._sizes[name] = info.st_size
            elif stat.S_ISLNK(info.st_mode):
                self.links[name] = os.readlink(path)
        except OSError:
            return

    def get(self, name: str, limit: int) -> bytes | None:
        return self._members.get(name, limit)

    def size(self, name: str) -> int:
        return self._sizes.get(name, 0)


def is_sosreport(names: Sequence[str]) -> bool:
    return any(name.startswith(("sos_commands/", "sos_reports/", "sos_logs/")) for name in names)


def is_asys(names: Sequence[str]) -> bool:
    return any(name in _ASYS_TEXTS for name in names) or any(name.startswith("dfx/log/") for name in names)


def asys_logs(files: Files) -> tuple[Source, ...]:
    """The tables of software, hardware and state, then the logs below dfx/log, plog first."""
    logs = [name for name in files.names if name.startswith("dfx/") and not name.endswith(_PACKED) and ("/log/" in name or name.endswith((".log", ".txt")))]
    logs.sort(key=lambda name: ("plog" not in name, name))
    return _sources(files, [*(name for name in _ASYS_TEXTS if name in files.names), *logs][:MOST_LOGS])


def sos_logs(files: Files) -> tuple[Source, ...]:
    """The kernel's and the system's log, as far as the report has them."""
    names = [name for name in files.names if any(fnmatch.fnmatchcase(name, glob) for glob in _SOS_LOGS) and not name.endswith(_PACKED)]
    return _sources(files, names[:MOST_LOGS])


def _sources(files: Files, names: Sequence[str]) -> tuple[Source, ...]:
    found = []
    for name in names:
        data = files.get(name, LOG_LIMIT)
        if data:
            found.append(Source(clean_line(name), None, len(data), data))
    return tuple(found)


class SosHost:
    """A sosreport: files where they lay, outputs below sos_commands/ by the name that sos makes of a command line."""

    live = False

    def __init__(self, files: Files) -> None:
        self._files = files
        self._names = set(files.names)
        self._folders = {posixpath.dirname(name)[: at or None] for name in files.names for at in _slashes(posixpath.dirname(name))}
        self._commands = {name.rpartition("/")[2]: name for name in files.names if name.startswith("sos_commands/")}
        named = self._text("hostname") or self._text("etc/hostname") or self._command("hostname") or ""
        self.label = clean_line(named) or clean_line(files.name.rstrip("/").rpartition("/")[2])

    def _text(self, name: str, limit: int = READ_LIMIT) -> str | None:
        data = self._files.get(name, limit) if name in self._names else None
        return None if data is None else clean(decode(data))

    def _command(self, mangled: str) -> str | None:
        return self._text(self._commands[mangled]) if mangled in self._commands else None

    def _located(self, path: str) -> str | None:
        """The name of the file or folder that a path of the host leads to, its links followed inside the report."""
        done: list[str] = []
        todo = path.split("/")[::-1]
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                del done[-1:]
            if part in ("", ".", ".."):
                continue
            here = "/".join([*done, part])
            target = self._files.links.get(here)
            if target is None:
                done.append(part)
                continue
            links += 1
            if links > MAX_LINKS:
                return None
            if target.startswith("/"):
                done = []
            todo.extend(target.split("/")[::-1])
        name = "/".join(done)
        return name if name in self._names or name in self._folders else None

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        data = self._bytes(path, limit, tail, 0)
        return clean(decode(data)) if isinstance(data, bytes) else data

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return self._bytes(path, limit, False, offset)

    def _bytes(self, path: str, limit: int, tail: bool, offset: int) -> bytes | Unavailable:
        name = self._located(path)
        if name is None or name not in self._names:
            return Unavailable(path, Why.NOT_RECORDED)
        data = self._files.get(name, self._files.size(name) + 1 if tail else limit + offset)
        if data is None:
            return Unavailable(path, Why.NOT_RECORDED)
        return data[max(len(data) - limit, 0) :] if tail else data[offset : offset + limit]

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        """What the report has of it; nothing says that a folder was taken whole."""
        depth = glob.strip("/").count("/")
        known = {*self._names, *self._folders, *self._files.links}
        found = sorted("/" + name for name in known if name.count("/") == depth and _matches("/" + name, glob) and clean(name) == name)
        return tuple(found) if found else Unavailable(glob, Why.NOT_RECORDED)

    def stat(self, path: str) -> FileInfo | Unavailable:
        name = self._located(path)
        if name is None:
            return Unavailable(path, Why.NOT_RECORDED)
        link = clean(self._files.links.get(path.strip("/"), ""))
        if name in self._names:
            return FileInfo(path, Kind.FILE, self._files.size(name), target=link)
        return FileInfo(path, Kind.FOLDER, target=link)

    def resolve(self, path: str) -> str | Unavailable:
        name = self._located(path)
        return Unavailable(path, Why.NOT_RECORDED) if name is None else "/" + clean(name)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        text = self._command(mangled(argv))
        if text is None:
            return Unavailable(clean(shlex.join(argv)), Why.NOT_RECORDED)
        if re.search(r"command not found|No such file or directory\s*\Z", text[:400]) and len(text) < 400:
            return Unavailable(clean(shlex.join(argv)), Why.MISSING, "no such program")
        return Output(tuple(argv), 0, text)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        for name in ("ps_auxwww", "ps_auxwwwm", "ps_auxfwww", "ps_auxwwwf", "ps_-elfL", "ps_alxwww", "ps_aux", "ps_-ef"):
            if found := tuple(parse_ps(self._command(name) or "", {"root": 0})):
                return found
        return Unavailable("processes", Why.NOT_RECORDED)

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return Unavailable(f"environment of process {pid}", Why.NOT_RECORDED)

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return Unavailable("listening sockets", Why.NOT_RECORDED)

    def now(self) -> datetime:
        told = parse_date((self._command("date") or self._text("date") or "").strip().splitlines()[-1] if (self._command("date") or self._text("date")) else "")
        return told or datetime.now(timezone.utc)

    def boot_id(self) -> str | Unavailable:
        text = self._text("proc/sys/kernel/random/boot_id", 64)
        return text.strip() if text else Unavailable("boot id", Why.NOT_RECORDED)


def mangled(argv: Sequence[str]) -> str:
    """The file name that sos gives the output of a command: sos' policy since 2.2."""
    name = re.sub(r"^/(usr/|)(bin|sbin)/", "", " ".join(argv))
    name = re.sub(r"[^\w\-./]+", "_", name)
    return name.replace("/", ".").strip(" ._-")[:255]


def _slashes(folder: str) -> list[int]:
    """Where a folder's own parents end, and 0 for itself."""
    return [0, *(at for at, char in enumerate(folder) if char == "/")] if folder else []


def _matches(path: str, glob: str) -> bool:
    ours, theirs = path.strip("/").split("/"), glob.strip("/").split("/")
    return len(ours) == len(theirs) and all(
        fnmatch.fnmatchcase(name, part) and (name[:1] != "." or part[:1] == ".") for name, part in zip(ours, theirs, strict=True)
    )


__all__ = ["Files", "FolderFiles", "SosHost", "asys_logs", "is_asys", "is_sosreport", "mangled", "sos_logs"]
