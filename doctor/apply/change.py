"""A change: the smallest thing that is made and unmade, with what was there before and what is there afterwards.

Contract: `before` and `after` are known when the change is planned, so that whoever looks later can tell which of the two is there. That is what
makes an interrupted run undoable: the journal holds the change before it is made, and `look` says how far it came. A change makes nothing
when it is constructed, looked at or shown.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from doctor.apply.rootfiles import RootFiles
from doctor.host import Output, Unavailable


class Standing(enum.Enum):
    """What is there now, compared with a change."""

    BEFORE = "before"
    AFTER = "after"
    MIXED = "mixed"
    """Every part is either as before or as after: an interruption of ours."""
    UNFINISHED = "unfinished"
    """Neither, but as an interruption of ours leaves it (a package that was removed and not yet installed)."""
    OTHER = "other"
    """Something else has changed it."""


class ChangeError(Exception):
    """A change that could not be made or unmade; the text is for people."""


class Backups(Protocol):
    """Where what was there before is kept: inside the transaction's folder, written to the disk before the change is made."""

    def keep(self, name: str, data: bytes) -> str:
        """Keeps the bytes and gives their SHA-256."""
        ...

    def kept(self, name: str, sha256: str) -> bytes:
        """The bytes again. Raises `ChangeError` where they are not those of that SHA-256."""
        ...

    def folder(self, name: str) -> str:
        """A folder for what is not one file (a package list with its log); an absolute path on this machine."""
        ...


class Run(Protocol):
    """Runs a program without a shell: absolute path, clean environment, no standard input. Never raises."""

    def __call__(self, argv: Sequence[str], timeout: float = ..., env: Mapping[str, str] | None = None) -> Output | Unavailable: ...


@dataclass(frozen=True)
class Ground:
    """Where changes are made. `live`: the root is this machine's own, so that running values can be set and programs started."""

    files: RootFiles
    backups: Backups
    run: Run
    live: bool
    transaction: str
    reached: Callable[[str], None] = lambda point: None
    """Called at every boundary, with its name; tests stop there."""


@dataclass(frozen=True)
class Scripted:
    """A change as lines of POSIX shell and as Ansible tasks; `undo` undoes it. Lines may use `$BACKUP`, a folder of the script's own."""

    do: tuple[str, ...]
    undo: tuple[str, ...]
    ansible: tuple[Mapping[str, Any], ...] = ()
    ansible_undo: tuple[Mapping[str, Any], ...] = ()


class Change(Protocol):
    """One kind of change. Instances are frozen dataclasses that `data` and `of` turn into JSON and back."""

    KIND: ClassVar[str]

    @property
    def subject(self) -> str:
        """What is changed, in a few words: a path, a package."""
        ...

    @property
    def nothing(self) -> bool:
        """True where before and after are the same."""
        ...

    def commands(self) -> tuple[tuple[str, ...], ...]:
        """What a person would type, as argv lists; () where `diff` says it all."""
        ...

    def diff(self) -> str:
        """A unified diff, "" where nothing is a file."""
        ...

    def look(self, ground: Ground) -> Standing: ...

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        """Keeps what is needed to go back, under names that begin with `name`; what it returns is written to the journal, and given to
        `make`, `unmake` and `difference`. Called before the change is made."""
        ...

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        """Makes it. Raises `ChangeError` or OSError."""
        ...

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        """Goes back to what was before; harmless where that is there already, and after an interrupted `make` or `unmake`."""
        ...

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        """Where the standing is OTHER: how what is there differs from what doctor left."""
        ...

    def scripted(self) -> Scripted: ...

    def data(self) -> Mapping[str, Any]:
        """JSON from which `of` makes the change again."""
        ...

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Change:
        """The change again. Raises `ChangeError` for what it does not know."""
        ...


__all__ = ["Backups", "Change", "ChangeError", "Ground", "Run", "Scripted", "Standing"]
