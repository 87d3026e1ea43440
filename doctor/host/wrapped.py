"""A host seen through another: every question is passed on; a subclass answers some of them itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Listener, Output, Process, Unavailable


class WrappedHost:
    """Passes everything on to `inner`."""

    def __init__(self, inner: Host) -> None:
        self.inner = inner

    @property
    def label(self) -> str:
        return self.inner.label

    @property
    def live(self) -> bool:
        return self.inner.live

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        return self.inner.read(path, limit, tail)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return self.inner.read_raw(path, limit, offset)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self.inner.list(glob)

    def stat(self, path: str) -> FileInfo | Unavailable:
        return self.inner.stat(path)

    def resolve(self, path: str) -> str | Unavailable:
        return self.inner.resolve(path)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        return self.inner.run(argv, timeout, env)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return self.inner.processes()

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return self.inner.environ(pid)

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return self.inner.listening()

    def now(self) -> datetime:
        return self.inner.now()

    def boot_id(self) -> str | Unavailable:
        return self.inner.boot_id()


__all__ = ["WrappedHost"]
