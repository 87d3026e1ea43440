"""A host in memory for tests of providers: files, links, refusals, commands, processes and environments as plain dicts."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Kind, Listener, Output, Process, Unavailable, Why


@dataclass
class TreeHost:
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    denied: frozenset[str] = frozenset()
    commands: Mapping[tuple[str, ...], Output] = field(default_factory=dict)
    running: tuple[Process, ...] | None = None
    environments: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    label: str = "tree"
    live: bool = True
    ran: list[tuple[str, ...]] = field(default_factory=list)
    ran_with: list[Mapping[str, str]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def _folders(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {"/": set()}
        for path in (*self.files, *self.links):
            while path != "/":
                parent = posixpath.dirname(path)
                found.setdefault(parent, set()).add(posixpath.basename(path))
                path = parent
        return found

    def _real(self, path: str, depth: int = 0) -> str:
        real = "/"
        for part in posixpath.normpath(path).strip("/").split("/"):
            step = posixpath.join(real, part)
            if step in self.links and depth < 20:
                step = self._real(posixpath.join(real, self.links[step]), depth + 1)
            real = step
        return real

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        self.opened.append(path)
        if self._refused(path):
            return Unavailable(path, Why.DENIED)
        text = self.files.get(self._real(path))
        return Unavailable(path, Why.MISSING) if text is None else text[-limit:] if tail else text[:limit]

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        text = self.read(path, len(self.files.get(self._real(path), "")) + 1)
        return text if isinstance(text, Unavailable) else text.encode("utf-8", "surrogateescape")[offset : offset + limit]

    def _refused(self, path: str) -> bool:
        return any(path == denied or path.startswith(denied + "/") for denied in self.denied)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        if self._refused(glob):
            return Unavailable(glob, Why.DENIED)
        folders, found = self._folders(), ["/"]
        for part in glob.strip("/").split("/"):
            inside = [(path, sorted(folders.get(self._real(path), ()))) for path in found]
            found = [posixpath.join(path, name) for path, names in inside for name in names if fnmatch.fnmatchcase(name, part)]
        return tuple(sorted(found))

    def stat(self, path: str) -> FileInfo | Unavailable:
        if self._refused(path):
            return Unavailable(path, Why.DENIED)
        real = self._real(path)
        if real in self.files:
            return FileInfo(path, Kind.FILE, len(self.files[real]))
        return FileInfo(path, Kind.FOLDER) if real in self._folders() else Unavailable(path, Why.MISSING)

    def resolve(self, path: str) -> str | Unavailable:
        found = self.stat(path)
        return found if isinstance(found, Unavailable) else self._real(path)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        self.ran.append(tuple(argv))
        self.ran_with.append(env or {})
        return self.commands.get(tuple(argv)) or Unavailable(" ".join(argv), Why.NOT_RECORDED)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return Unavailable("processes", Why.NOT_RECORDED) if self.running is None else self.running

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return self.environments.get(pid, Unavailable(f"environment of {pid}", Why.DENIED))

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return ()

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=timezone.utc)

    def boot_id(self) -> str | Unavailable:
        return "boot"
