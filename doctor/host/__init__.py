"""The one window through which doctor sees a machine: read-only by type, every answer bounded.

Contract: a method answers with what it found or with an `Unavailable` that says what could not be had and why; it
never raises for anything that a machine can do to it. Text is UTF-8 with errors replaced and has gone through
`doctor.text.clean`. Implementations: `live.LiveHost`, `recorded.RecordedHost`, `plain.PlainHost`,
`recording.RecordingHost`; tests use `recorded` with folders made on the spot.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from doctor.record import dataclass

KIB = 1024
MIB = 1024 * KIB

READ_LIMIT = 4 * MIB
"""Bytes that `Host.read` returns at the most unless asked otherwise: every fact file is far smaller."""

RUN_TIMEOUT = 10.0
"""Seconds a command may take unless asked otherwise; `npu-smi info` takes 1 to 4 s on a healthy 8-card server."""


class Why(enum.Enum):
    """Why something could not be had."""

    MISSING = "missing"
    DENIED = "denied"
    TIMED_OUT = "timed out"
    TOO_BIG = "too big"
    NOT_RECORDED = "not recorded"
    LEFT_OUT = "left out"
    """The profile of this run does not look at it."""


@dataclass(frozen=True)
class Unavailable:
    """`what` (a path, a command line, a fact) could not be had, for the reason `why`; `detail` is for people."""

    what: str
    why: Why
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.why.value}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Output:
    """What a command printed. `exit` is the exit status, negative for a signal."""

    argv: tuple[str, ...]
    exit: int
    stdout: str
    stderr: str = ""
    seconds: float = 0.0
    truncated: bool = False

    @property
    def text(self) -> str:
        """Standard output followed by standard error: what a person would have seen."""
        return self.stdout + (("\n" if self.stdout and not self.stdout.endswith("\n") else "") + self.stderr if self.stderr else "")


class Kind(enum.Enum):
    """What a path is."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    CHAR_DEVICE = "character device"
    BLOCK_DEVICE = "block device"
    FIFO = "fifo"
    SOCKET = "socket"


@dataclass(frozen=True)
class FileInfo:
    """One `lstat`-like answer. `kind` is that of the thing a link points to; `target` is where the link points, "" for no link.

    `mode`, `uid`, `gid` are None where the recording did not keep them.
    """

    path: str
    kind: Kind
    size: int = 0
    mode: int | None = None
    uid: int | None = None
    gid: int | None = None
    mtime: float | None = None
    target: str = ""


@dataclass(frozen=True)
class Process:
    """One process. `started` is seconds since the epoch; `exe` is "" where it may not be read."""

    pid: int
    ppid: int
    name: str
    argv: tuple[str, ...] = ()
    exe: str = ""
    uid: int | None = None
    state: str = ""
    started: float | None = None
    cwd: str = ""


@dataclass(frozen=True)
class Listener:
    """A listening TCP socket; pid is None where it may not be read."""

    address: str
    port: int
    pid: int | None = None


class Host(Protocol):
    """The machine being looked at. See the module's contract."""

    @property
    def label(self) -> str:
        """How reports name this host: its host name, or the folder of a recording."""
        ...

    @property
    def live(self) -> bool:
        """True where commands really run now; a replay and `--root` are not live."""
        ...

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        """The file's text: its first (or, with `tail`, last) `limit` bytes. Regular files only; links are followed inside the host."""
        ...

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        """At most `limit` bytes of a regular file from `offset` on, as they are: for binary headers, never for text that people read."""
        ...

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        """Absolute paths that match the pattern (`*`, `?`, `[…]` within one component), sorted; () if none does."""
        ...

    def stat(self, path: str) -> FileInfo | Unavailable:
        """What the path is; MISSING where it is not there."""
        ...

    def resolve(self, path: str) -> str | Unavailable:
        """The path with every symbolic link followed, as the host would see it; MISSING where it leads nowhere."""
        ...

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        """Runs a read-only command without a shell, at most `timeout` seconds; MISSING where there is no such program.

        `env` adds variables to the white-listed environment (a target's own, for an import check).
        """
        ...

    def processes(self) -> tuple[Process, ...] | Unavailable: ...

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        """The environment a process was started with; pid 0 is the environment that doctor itself was started in."""
        ...

    def listening(self) -> tuple[Listener, ...] | Unavailable: ...

    def now(self) -> datetime:
        """The host's clock, aware (UTC)."""
        ...

    def boot_id(self) -> str | Unavailable: ...


class Probe(enum.Enum):
    """How much a look at the machine disturbs it; the default check stays below LOAD."""

    PASSIVE = "passive"
    """Reads files below /etc, /proc, /sys, /usr and the like."""
    PROCESS = "process"
    """Starts a child process that does not touch an NPU."""
    DEVICE = "device"
    """Asks the driver about an NPU (`npu-smi info`, `hccn_tool -g`)."""
    LOAD = "load"
    """Puts work on an NPU."""


__all__ = [
    "FileInfo", "Host", "KIB", "Kind", "Listener", "MIB", "Output", "Probe", "Process",
    "READ_LIMIT", "RUN_TIMEOUT", "Unavailable", "Why",
]  # fmt: skip
