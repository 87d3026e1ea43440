"""Going back: the changes of one transaction undone, last first, from wherever it was stopped.

Contract: everything is looked at before anything is put back. A change that something else has changed since stops it, and nothing is
touched; one that was never made is left alone. It may itself be stopped anywhere, and run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from doctor.apply.change import Change, ChangeError, Ground, Standing
from doctor.apply.journal import Journal, MadeChange, Transaction
from doctor.apply.kind import change_of
from doctor.apply.rootfiles import UnsafePath

TROUBLE = (ChangeError, UnsafePath, OSError)
"""What may go wrong with a change; anything else is a bug of ours."""


@dataclass(frozen=True)
class Foreign:
    """Something else has changed what doctor had changed: what, and how it differs from what doctor left."""

    subject: str
    difference: str
    later: str = ""
    """The later transaction that changed it, "" where it was not doctor."""


class ForeignError(Exception):
    """An undo that was refused; nothing was touched."""

    def __init__(self, foreign: Sequence[Foreign]) -> None:
        super().__init__(", ".join(item.subject for item in foreign))
        self.foreign = tuple(foreign)


@dataclass(frozen=True)
class Gone:
    """What no undo brings back: an ended process, and what it was started with."""

    subject: str
    argv: tuple[str, ...] = ()


@dataclass(frozen=True)
class PutBack:
    """What an undo did: subjects that were put back, and those that were left alone because they were not ours any more, or cannot come back."""

    subjects: tuple[str, ...]
    left: tuple[str, ...] = ()
    gone: tuple[Gone, ...] = ()
    """Those of `left` that cannot come back."""


def put_back(journal: Journal, transaction: Transaction, ground: Ground, rebooted: bool = False, heard: Callable[[str], None] | None = None) -> PutBack:
    """Undoes the transaction's changes. Raises `ForeignError`, or what `TROUBLE` lists; the journal then tells how far it came."""
    pairs = [(made, change_of(made.change)) for made in reversed(transaction.changes)]
    foreign, left = _looked_at(journal, transaction, pairs, ground, rebooted)
    if foreign:
        raise ForeignError(foreign)
    done: list[str] = []
    for made, change in pairs:
        if made.number in left:
            continue
        moved = change.look(ground) is not Standing.BEFORE
        journal.append("putting back", transaction.ident, number=made.number)
        ground.reached(f"putting back {made.number}")
        change.unmake(ground, made.saved)
        ground.reached(f"put back {made.number}")
        if not change.nothing and change.look(ground) is not Standing.BEFORE:
            raise ChangeError(f"{change.subject} is not as it was before")
        journal.append("put back", transaction.ident, number=made.number)
        ground.reached(f"recorded put back {made.number}")
        if moved:
            done.append(change.subject)
            if heard is not None:
                heard(change.subject)
    return PutBack(tuple(done), tuple(left.values()), tuple(lost(transaction, ground)))


def lost(transaction: Transaction, ground: Ground) -> Iterator[Gone]:
    """The processes that the transaction has ended; one that still runs was never ended."""
    for made in transaction.changes:
        change = change_of(made.change)
        if getattr(change, "final", False) and (made.done or change.look(ground) is Standing.AFTER):
            yield Gone(change.subject, tuple(getattr(change, "argv", ())))


def _looked_at(
    journal: Journal, transaction: Transaction, pairs: Sequence[tuple[MadeChange, Change]], ground: Ground, rebooted: bool
) -> tuple[list[Foreign], dict[int, str]]:
    """(what stands in the way, subjects to leave alone by number)."""
    foreign: list[Foreign] = []
    left: dict[int, str] = {}
    for made, change in pairs:
        if getattr(change, "final", False):  # an ended process: it cannot be brought back
            left[made.number] = change.subject
            continue
        if made.change.get("kind") == "kernel" and not ground.live:  # made by a doctor on that machine: its next boot tells
            left[made.number] = change.subject
            continue
        standing = change.look(ground)
        ours = standing is not Standing.OTHER and (standing is not Standing.UNFINISHED or not made.done)
        if ours or made.put_back:
            continue
        if not made.done or (rebooted and made.change.get("kind") == "kernel"):
            left[made.number] = change.subject
        else:
            foreign.append(Foreign(change.subject, change.difference(ground, made.saved), _later(journal, transaction, change.subject)))
    return foreign, left


def _later(journal: Journal, transaction: Transaction, subject: str) -> str:
    """The newest later transaction that stands and changed the same thing."""
    later = [one for one in journal.transactions() if one.standing and (one.time, one.ident) > (transaction.time, transaction.ident)]
    return next((one.ident for one in reversed(later) for made in one.changes if change_of(made.change).subject == subject), "")


__all__ = ["Foreign", "ForeignError", "Gone", "PutBack", "TROUBLE", "lost", "put_back"]
