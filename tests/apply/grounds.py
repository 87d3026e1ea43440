"""A ground for tests of single changes: real files, real programs, backups in a folder, and a stop at any boundary."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doctor.apply.change import Change, ChangeError, Ground, Standing
from doctor.apply.kind import Choices, Context
from doctor.apply.rootfiles import RootFiles
from doctor.facts import FixedFacts
from doctor.host import Host, Output, Unavailable, live_run
from doctor.host.live import LiveHost


class Stop(BaseException):
    """The machine goes down here: nothing that a program could catch."""


@dataclass(frozen=True)
class KeptIn:
    """Backups in a folder, without the journal around them."""

    path: Path

    def keep(self, name: str, data: bytes) -> str:
        (self.path / name).write_bytes(data)
        return hashlib.sha256(data).hexdigest()

    def kept(self, name: str, sha256: str) -> bytes:
        data = (self.path / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ChangeError(f"{name} is not what was kept")
        return data

    def folder(self, name: str) -> str:
        (self.path / name).mkdir(exist_ok=True)
        return str(self.path / name)


def run(argv: Sequence[str], timeout: float = 60.0, env: Mapping[str, str] | None = None) -> Output | Unavailable:
    return live_run.run(argv, timeout, env)


def ground(folder: Path, reached: Callable[[str], None] = lambda point: None) -> Ground:
    folder.mkdir(exist_ok=True)
    return Ground(RootFiles("/"), KeptIn(folder), run, live=True, transaction="t-1", reached=reached)


def context(*facts: object, host: Host | None = None, euid: int | None = None, **chosen: Any) -> Context:
    """What a step kind looks at on this machine, with facts of the test's own."""
    import os

    return Context(host or LiveHost("/"), FixedFacts(*facts), "a-rule", "a-fix", "/", os.geteuid() if euid is None else euid, Choices(**chosen))


def boundaries(change: Change, folder: Path) -> list[str]:
    """The names of all boundaries that making the change passes. It stays made."""
    passed: list[str] = []
    place = ground(folder, passed.append)
    saved = change.save(place, "change")
    change.make(place, saved)
    return passed


def journaled(change: Change) -> Change:
    """The change as a later run reads it from the journal."""
    import json

    return type(change).of(json.loads(json.dumps(dict(change.data()))))


def stopped_at(change: Change, folder: Path, point: str) -> Mapping[str, object]:
    """Makes the change up to the boundary and stops there as a power loss would; what was saved before."""

    def reached(name: str) -> None:
        if name == point:
            raise Stop

    place = ground(folder, reached)
    saved = change.save(place, "change")
    try:
        change.make(place, saved)
    except Stop:
        return saved
    raise AssertionError(f"the boundary {point!r} was never passed")


def undone(change: Change, folder: Path, saved: Mapping[str, object]) -> Standing:
    """Takes it back in a run of its own; how it stands then."""
    later = journaled(change)
    later.unmake(ground(folder), saved)
    return later.look(ground(folder))
