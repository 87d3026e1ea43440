"""A host as it will be when earlier steps of a plan are done: their files lie over those of the host. Planning only; changes nothing."""

from __future__ import annotations

import fnmatch
from dataclasses import replace

from doctor.apply.filechange import FileChange
from doctor.apply.plan import StepPlan
from doctor.host import READ_LIMIT, FileInfo, Host, Kind, Unavailable, Why
from doctor.host.wrapped import WrappedHost
from doctor.text import clean


class Overlay(WrappedHost):
    """`host` with the files of `planned` over it."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._files: dict[str, bytes | None] = {}

    def planned(self, step: StepPlan) -> None:
        """From now on the step counts as done."""
        for change in step.changes:
            if isinstance(change, FileChange):
                self._files[change.path] = None if change.after is None else change.after.encode("utf-8", "surrogateescape")

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        if path not in self._files:
            return self.inner.read(path, limit, tail)
        data = self.read_raw(path, 1 << 30)
        return data if isinstance(data, Unavailable) else clean((data[-limit:] if tail else data[:limit]).decode("utf-8", "replace"))

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        if path not in self._files:
            return self.inner.read_raw(path, limit, offset)
        data = self._files[path]
        return Unavailable(path, Why.MISSING) if data is None else data[offset : offset + limit]

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        found = self.inner.list(glob)
        mine = {path: data for path, data in self._files.items() if path.count("/") == glob.count("/") and fnmatch.fnmatchcase(path, glob)}
        if isinstance(found, Unavailable):
            return tuple(sorted(path for path, data in mine.items() if data is not None)) if mine else found
        return tuple(sorted({*(path for path in found if self._files.get(path, b"") is not None), *(path for path, data in mine.items() if data is not None)}))

    def stat(self, path: str) -> FileInfo | Unavailable:
        found = self.inner.stat(path)
        if path not in self._files:
            return found
        data = self._files[path]
        if data is None:
            return Unavailable(path, Why.MISSING)
        return replace(found, size=len(data)) if isinstance(found, FileInfo) else FileInfo(path, Kind.FILE, len(data), 0o644, 0, 0)

    def resolve(self, path: str) -> str | Unavailable:
        if self._files.get(path) is not None:
            found = self.inner.resolve(path)
            return path if isinstance(found, Unavailable) else found
        return self.inner.resolve(path)


__all__ = ["Overlay"]
