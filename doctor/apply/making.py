"""One transaction: one fix applied, judged again, and kept or put back.

Contract: each change is backed up, told to the journal and synced before it is made. Whatever fails, what was made is put back; where even
that fails, the journal tells how far it came and the outcome is BROKEN_OFF.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from doctor.apply.change import Change, ChangeError, Ground, Standing
from doctor.apply.journal import Journal, Transaction, change_data
from doctor.apply.plan import Effect, FixPlan
from doctor.apply.putback import TROUBLE, ForeignError, Gone, put_back

STILL_FOUND = "the rule still finds the cause"


class Outcome(enum.Enum):
    """What became of a fix."""

    FIXED = "fixed"
    """The rule looked again and is clear."""
    PENDING = "pending"
    """Changed; it cannot be verified before something happens, or the rule could not look."""
    ROLLED_BACK = "rolled back"
    """It failed, or the rule still finds the cause: everything is as before."""
    BROKEN_OFF = "broken off"
    """It failed and could not be put back: `doctor undo` has to be run."""
    NOTHING = "nothing"
    """Everything was as wanted already."""


class Judged(enum.Enum):
    """What the rule says when it is run again."""

    CLEAR = "clear"
    FOUND = "found"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Verification:
    """The rule's second answer; `why` where it could not tell."""

    judged: Judged
    why: str = ""


@dataclass(frozen=True)
class Applied:
    """One fix, applied. `why` says what failed or what is waited for."""

    rule: str
    fix: str
    outcome: Outcome
    transaction: str = ""
    why: str = ""
    effect: Effect = Effect.NOW


@dataclass(frozen=True)
class Event:
    """Something that a face may show: `what` is begin, change, done, verify, putting back, or end; `step` a step's key."""

    what: str
    rule: str
    step: str = ""
    subject: str = ""


Heard = Callable[[Event], None]
Verify = Callable[[FixPlan], Verification]


def new_ident() -> str:
    """A name for a transaction: its time, and something that makes it one of its kind."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{os.urandom(3).hex()}"


def make_fix(fix: FixPlan, journal: Journal, ground: Ground, begin: Mapping[str, Any], verify: Verify, heard: Heard) -> Applied:
    """Applies one fix that has something to change. Raises OSError where not even the journal's first record can be written."""
    ident = ground.transaction
    journal.append("begin", ident, fixes=[f"{fix.rule}/{fix.fix}"], steps=[step.key for step in fix.steps], **begin)
    heard(Event("begin", fix.rule))
    try:
        ground.reached("begun")
        _make_all(fix, journal, ground, heard)
        heard(Event("verify", fix.rule))
        ground.reached("made")
        verification = verify(fix)
    except (*TROUBLE, KeyboardInterrupt) as problem:
        why = "interrupted" if isinstance(problem, KeyboardInterrupt) else _told(problem)
        applied = _back(fix, journal, ground, why, heard)
        if isinstance(problem, KeyboardInterrupt):
            raise
        return applied
    if verification.judged is Judged.FOUND and fix.effect is Effect.NOW:
        return _back(fix, journal, ground, STILL_FOUND, heard)
    fixed = verification.judged is Judged.CLEAR
    outcome = Outcome.FIXED if fixed else Outcome.PENDING
    why = "" if fixed else verification.why
    try:
        _end(journal, ground, fix, outcome, why, heard)
    except OSError as problem:
        outcome, why = Outcome.BROKEN_OFF, f"the journal cannot be written: {_told(problem)}"
    return Applied(fix.rule, fix.fix, outcome, ident, why, fix.effect)


def _make_all(fix: FixPlan, journal: Journal, ground: Ground, heard: Heard) -> None:
    number = 0
    for step in fix.steps:
        for change in step.changes:
            number += 1
            heard(Event("change", fix.rule, step.key, change.subject))
            _make(number, step.key, change, journal, ground)
            heard(Event("done", fix.rule, step.key, change.subject))


def _make(number: int, step: str, change: Change, journal: Journal, ground: Ground) -> None:
    if change.look(ground) is Standing.OTHER:
        raise ChangeError(f"{change.subject} was changed by something else since the plan was made")
    saved = change.save(ground, f"{number:02d}")
    ground.reached(f"saved {number}")
    journal.append("change", ground.transaction, number=number, step=step, change=change_data(change), saved=dict(saved))
    ground.reached(f"recorded {number}")
    change.make(ground, saved)
    ground.reached(f"changed {number}")
    if change.look(ground) is not Standing.AFTER:
        raise ChangeError(f"{change.subject} is not as it should be after the change")
    journal.append("done", ground.transaction, number=number)
    ground.reached(f"done {number}")


def _back(fix: FixPlan, journal: Journal, ground: Ground, why: str, heard: Heard) -> Applied:
    """Puts back what was made; tells what could not be."""
    heard(Event("putting back", fix.rule))
    outcome = Outcome.ROLLED_BACK
    gone: tuple[Gone, ...] = ()
    try:
        journal.append("failed", ground.transaction, why=why)
        gone = put_back(journal, current(journal, ground.transaction), ground).gone
    except ForeignError as problem:
        outcome, why = Outcome.BROKEN_OFF, f"{why}; not put back, since something else changed it: {problem}"
    except TROUBLE as problem:
        outcome, why = Outcome.BROKEN_OFF, f"{why}; not put back: {_told(problem)}"
    try:
        _end(journal, ground, fix, outcome, why, heard)
    except OSError as problem:
        outcome, why = Outcome.BROKEN_OFF, f"{why}; the journal cannot be written: {_told(problem)}"
    ended = f"; ended and not to be brought back: {', '.join(each.subject for each in gone)}" if gone else ""
    return Applied(fix.rule, fix.fix, outcome, ground.transaction, why + ended, fix.effect)


def _end(journal: Journal, ground: Ground, fix: FixPlan, outcome: Outcome, why: str, heard: Heard) -> None:
    ground.reached("judged")
    journal.append("end", ground.transaction, outcome=outcome.value, why=why)
    ground.reached("ended")
    heard(Event("end", fix.rule, subject=outcome.value))


def current(journal: Journal, ident: str) -> Transaction:
    return next(one for one in journal.transactions() if one.ident == ident)


def _told(problem: BaseException) -> str:
    if isinstance(problem, OSError):
        return f"{problem.filename + ': ' if isinstance(problem.filename, str) else ''}{problem.strerror or problem}"
    return str(problem) or type(problem).__name__


__all__ = ["STILL_FOUND", "Applied", "Event", "Heard", "Judged", "Outcome", "Verification", "Verify", "current", "make_fix", "new_ident"]
