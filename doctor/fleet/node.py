"""One node of a fleet: what became of it, what was found on it, and what it knows that others may contradict."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from doctor.bundle.diff import Side
from doctor.finding import Severity
from doctor.words import Words


class Standing(enum.Enum):
    """What became of one node."""

    JUDGED = "judged"
    UNREACHABLE = "unreachable"
    FAILED = "failed"
    """It was reached, and the recording did not succeed."""
    UNREADABLE = "unreadable"
    """Its snapshot cannot be read."""


@dataclass(frozen=True)
class Told:
    """One cause found on a node."""

    rule: str
    severity: Severity
    title: Words
    subject: str = ""
    found: str = ""


@dataclass(frozen=True)
class Wire:
    """What a node knows of the network between nodes. Addresses are as the snapshot tells them: masked ones keep their equality."""

    addresses: Mapping[int, str] = field(default_factory=dict)
    """NPU id -> address of its network port."""
    tls: Mapping[int, int] = field(default_factory=dict)
    """NPU id -> its TLS switch, 0 or 1."""
    ranks: tuple[tuple[str, int, str], ...] = ()
    """(server, device id, device address) of each rank in its rank table."""


@dataclass(frozen=True)
class FirstError:
    """The earliest error in a node's logs. `time` is the node's own clock, None where its line has none."""

    text: str
    source: str
    line: int
    time: datetime | None = None
    rank: str = ""


@dataclass(frozen=True)
class Node:
    """One node. `late` is how many seconds its clock is behind the controller's, None where that cannot be told."""

    name: str
    standing: Standing
    why: str = ""
    causes: tuple[Told, ...] = ()
    clear: int = 0
    skipped: int = 0
    broken: tuple[str, ...] = ()
    side: Side | None = None
    wire: Wire = Wire()
    first_error: FirstError | None = None
    late: float | None = None
    seconds: float = 0.0

    @property
    def worst(self) -> Severity | None:
        return max((cause.severity for cause in self.causes), default=None)


def judged(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Those that were judged."""
    return tuple(node for node in nodes if node.standing is Standing.JUDGED)


__all__ = ["FirstError", "Node", "Standing", "Told", "Wire", "judged"]
