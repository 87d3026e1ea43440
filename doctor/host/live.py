"""The machine that doctor runs on, or one whose file system is mounted below `root`. Reads and asks; changes nothing."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from doctor.host import KIB, READ_LIMIT, RUN_TIMEOUT, FileInfo, Listener, Output, Process, Unavailable, Why, live_run, procfs
from doctor.host.tree import Tree
from doctor.text import clean, clean_line


class LiveHost:
    """`root` is where the host's / lies: "/" for this machine. `timeout_scale` stretches every command's time limit (slow machines)."""

    def __init__(self, root: str = "/", timeout_scale: float = 1.0) -> None:
        self._tree = Tree(root)
        self._scale = timeout_scale

    @property
    def live(self) -> bool:
        return self._tree.root == "/"

    @property
    def label(self) -> str:
        """The host name; of a mounted host the one in its /etc/hostname, else where it is mounted."""
        if self.live:
            return clean_line(os.uname().nodename)
        name = self._tree.read("/etc/hostname", KIB, tail=False)
        return (clean_line(name) if isinstance(name, str) else "") or clean_line(self._tree.root)

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        return self._tree.read(path, limit, tail)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return self._tree.read_bytes(path, limit, offset=offset)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self._tree.glob(glob)

    def stat(self, path: str) -> FileInfo | Unavailable:
        return self._tree.stat(path)

    def resolve(self, path: str) -> str | Unavailable:
        return self._tree.resolve(path)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        if not self.live:
            return Unavailable(clean(shlex.join(argv)), Why.NOT_RECORDED, "another machine is mounted here")
        return live_run.run(argv, timeout * self._scale, env)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return procfs.processes(self._tree)

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        if pid != 0:
            return procfs.environ(self._tree, pid)
        if not self.live:
            return Unavailable("environment of process 0", Why.NOT_RECORDED, "another machine is mounted here")
        return {clean(name): clean(value) for name, value in os.environ.items()}

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        # Of a mounted host, the namespace of its first process; ours is the container's.
        return procfs.listening(self._tree, "self" if self.live else "1")

    def now(self) -> datetime:
        return datetime.now(timezone.utc)

    def boot_id(self) -> str | Unavailable:
        text = self._tree.read("/proc/sys/kernel/random/boot_id", KIB, tail=False)
        return text.strip() if isinstance(text, str) else dataclasses.replace(text, what="boot id")


__all__ = ["LiveHost"]
