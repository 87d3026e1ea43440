"""What the command line and the app call: look, list, plan, apply, undo, history. Pure of any face; progress is told through callbacks.

Contract: only `apply_plan` and `undo` change anything, under the lock of the state folder. What is refused is a `RefusedError` with a `kind` that
a face puts into words; nothing was changed then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doctor.apply.change import Ground
from doctor.apply.journal import Journal, JournalError, Transaction, undoable
from doctor.apply.kind import Choices
from doctor.apply.making import STILL_FOUND, Applied, Event, Heard, Judged, Outcome, Verification, make_fix, new_ident
from doctor.apply.plan import FixPlan, Plan
from doctor.apply.planning import Fixable, Looked, NotPlannable, fixable, make_plan
from doctor.apply.putback import TROUBLE, Foreign, ForeignError, PutBack, put_back
from doctor.apply.rootfiles import RootFiles, UnsafePath
from doctor.apply.statefolder import BusyError, StateFolder, state_path
from doctor.examine import Selection, examine_host
from doctor.finding import Outcome as RuleOutcome
from doctor.host import KIB, RUN_TIMEOUT, Host, Output, Unavailable
from doctor.host.live import LiveHost
from doctor.host.live_run import run as run_program
from doctor.logscan.scan import Chunk
from doctor.rulebook import Rulebook
from doctor.text import clean_line

MOST_FAILURES = 2
"""After so many failures of one fix doctor no longer offers to apply it: something else is wrong."""


class RefusedError(Exception):
    """`kind`: busy, interrupted, stale, not-applicable, needs-root, nothing-to-undo, no-such-transaction, already-undone, altered,
    unsafe, failed-twice. `about` is what it is about: a transaction, a pid, a path, a rule."""

    def __init__(self, kind: str, about: str = "") -> None:
        super().__init__(f"{kind}: {about}" if about else kind)
        self.kind, self.about = kind, about


@dataclass(frozen=True)
class Site:
    """The machine, or the root, on which fixes are made, and how it is looked at. `logs` gives the log chunks anew each time."""

    book: Rulebook
    root: str = "/"
    python: str | None = None
    choices: Choices = Choices()
    logs: Callable[[], Iterable[Chunk]] = tuple
    timeout_scale: float = 1.0
    selection: Selection = Selection()
    """The rules that are asked; whether a fix has helped is asked of its own rule alone."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    reached: Callable[[str], None] = lambda point: None
    """Called at every boundary of a change; tests stop there."""

    @property
    def euid(self) -> int:
        return os.geteuid()

    def look(self, only: tuple[str, ...] = (), snapshot: str = "", logs: bool = True, seen: Callable[[Any], None] | None = None) -> Looked:
        """Examines the machine afresh; with `snapshot` all that was seen is recorded in that folder."""
        host: Host = LiveHost(self.root, self.timeout_scale)
        if snapshot:
            from doctor.host.recording import RecordingHost

            host = RecordingHost(host, Path(snapshot))
        chunks = self.logs() if logs else ()
        chosen = Selection(only=only) if only else self.selection
        examination = examine_host(host, self.book, chosen, python=self.python, chunks=chunks, heard=seen)
        return Looked(examination, host, self.root, self.euid, self.choices)


def apply_plan(site: Site, names: tuple[str, ...], reviewed: str, heard: Heard = lambda event: None, without: tuple[tuple[str, str], ...] = ()) -> tuple[Applied, ...]:
    """Applies what `names` name, if the plan made now has the hash that was reviewed. `without` are (rule, step key) switched off.

    A snapshot is taken first. Raises `RefusedError` (nothing was changed), `NotPlannable`.
    """
    with _state(site) as state, _locked(state):
        journal = _journal(state)
        if (unfinished := next((one for one in journal.transactions() if one.open), None)) is not None:
            raise RefusedError("interrupted", unfinished.ident)
        ident = new_ident()
        try:
            plan = _again(site, state, names, ident, without)
            _refuse(plan, reviewed, site, journal)
        except (RefusedError, NotPlannable):
            state.discard(ident)
            raise
        applied = []
        for fix in plan.fixes:
            if fix.already:
                applied.append(Applied(fix.rule, fix.fix, Outcome.NOTHING))
                continue
            applied.append(_apply_one(site, state, journal, plan, fix, ident, heard))
            ident = new_ident()
            if applied[-1].outcome is Outcome.BROKEN_OFF:
                break
        return tuple(applied)


def _refuse(plan: Plan, reviewed: str, site: Site, journal: Journal) -> None:
    if plan.hash != reviewed:
        raise RefusedError("stale", plan.hash)
    refuse_unfit(plan, site)
    for fix in plan.fixes:
        if not fix.already and failures(journal, plan, fix) >= MOST_FAILURES:
            raise RefusedError("failed-twice", f"{fix.rule}/{fix.fix}")


def refuse_unfit(plan: Plan, site: Site) -> None:
    """Raises `RefusedError` for a plan that cannot be applied by this user from here."""
    for fix in plan.fixes:
        if not fix.already and not fix.applicable:
            raise RefusedError("not-applicable", f"{fix.rule}/{fix.fix}")
    if site.euid != 0 and any(step.needs.root and step.changes for step in plan.steps):
        raise RefusedError("needs-root")


def failures(journal: Journal, plan: Plan, fix: FixPlan) -> int:
    """How often just this plan was made and did not help, one time after the other. What failed for another reason (a full disk) may be tried again."""
    name, count = f"{fix.rule}/{fix.fix}", 0
    for one in journal.transactions():
        if name in one.told.get("fixes", ()):
            same = one.told.get("plan") == plan.hash and one.why == STILL_FOUND
            count = count + 1 if same and one.outcome == Outcome.ROLLED_BACK.value else 0
    return count


def _again(site: Site, state: StateFolder, names: tuple[str, ...], ident: str, without: tuple[tuple[str, str], ...]) -> Plan:
    """The plan made anew; what was seen meanwhile is the snapshot of before the change."""
    folder = state.transaction(ident)
    try:
        looked = site.look(snapshot=f"{folder.path}/snapshot")
    except (OSError, ValueError) as problem:
        raise RefusedError("unsafe", f"snapshot: {problem}") from None
    finally:
        folder.close()
    return make_plan(looked, names, without)


def _apply_one(site: Site, state: StateFolder, journal: Journal, plan: Plan, fix: FixPlan, ident: str, heard: Heard) -> Applied:
    with _ground(site, state, ident) as ground:
        begin = {"plan": plan.hash, "root": plan.root, "machine": plan.machine, "boot": _boot(site), "who": _who(site)}
        try:
            applied = make_fix(fix, journal, ground, begin, lambda one: _verified(site, one), heard)
        except OSError as problem:
            raise RefusedError("unsafe", f"{state.shown}: {problem.strerror or problem}") from None
    _audit(site, f"{applied.outcome.value} {fix.rule}/{fix.fix} transaction {ident}")
    return applied


def _verified(site: Site, fix: FixPlan) -> Verification:
    """The rule's answer on fresh facts; old logs are not asked again, for they tell of before."""
    try:
        verdict = site.look(only=(fix.rule,), logs=False).examination.verdicts[0]
    except Exception as problem:  # noqa: BLE001  a fact that breaks says nothing about the fix, and must not leave it half done
        return Verification(Judged.UNKNOWN, clean_line(f"{type(problem).__name__}: {problem}")[:400])
    if verdict.outcome is RuleOutcome.CLEAR:
        return Verification(Judged.CLEAR)
    if verdict.outcome is RuleOutcome.FOUND:
        same = any(finding.subject == fix.subject for finding in verdict.findings)
        return Verification(Judged.FOUND if same else Judged.CLEAR)
    return Verification(Judged.UNKNOWN, clean_line(verdict.why.strip().rpartition("\n")[2])[:400])


@dataclass(frozen=True)
class Undone:
    """What an undo did."""

    transaction: str
    put_back: PutBack


def undo(site: Site, ident: str = "", heard: Callable[[str], None] | None = None) -> Undone:
    """Puts back what a transaction changed; "" is the newest that stands. Raises `RefusedError`, `ForeignError` (nothing was touched)."""
    with _state(site) as state, _locked(state):
        journal = _journal(state)
        transaction = _to_undo(journal, ident)
        rebooted = bool(transaction.told.get("boot")) and transaction.told["boot"] != _boot(site)
        with _ground(site, state, transaction.ident) as ground:
            journal.append("undo", transaction.ident, who=_who(site))
            done = put_back(journal, transaction, ground, rebooted, heard)
            journal.append("undone", transaction.ident, subjects=list(done.subjects), left=list(done.left))
        _audit(site, f"undone {transaction.ident}")
        return Undone(transaction.ident, done)


def _to_undo(journal: Journal, ident: str) -> Transaction:
    transactions = journal.transactions()
    if not ident:
        found = next(iter(undoable(transactions)), None)
        if found is None:
            raise RefusedError("nothing-to-undo")
        return found
    named = [one for one in transactions if one.ident == ident or (len(ident) >= 4 and one.ident.startswith(ident))]
    if len(named) != 1:
        raise RefusedError("no-such-transaction", ident)
    if not (named[0].standing or named[0].open):
        raise RefusedError("already-undone", named[0].ident)
    return named[0]


def history(site: Site) -> tuple[Transaction, ...]:
    """Every transaction, oldest first. Raises `RefusedError` where the journal was altered or is not ours."""
    try:
        state = StateFolder.existing(RootFiles(site.root), state_path(site.root, site.euid, site.environ))
    except (UnsafePath, OSError) as problem:
        raise RefusedError("unsafe", str(problem)) from None
    if state is None:
        return ()
    try:
        return tuple(_journal(state).transactions())
    finally:
        state.close()


@contextmanager
def _state(site: Site) -> Iterator[StateFolder]:
    try:
        state = StateFolder(RootFiles(site.root), state_path(site.root, site.euid, site.environ))
    except (UnsafePath, OSError) as problem:
        raise RefusedError("unsafe", str(problem)) from None
    try:
        yield state
    finally:
        state.close()


@contextmanager
def _locked(state: StateFolder) -> Iterator[None]:
    try:
        with state.locked():
            yield
    except BusyError as problem:
        raise RefusedError("busy", str(problem.pid) if problem.pid else "") from None


def _journal(state: StateFolder) -> Journal:
    try:
        journal = Journal(state)
    except (JournalError, OSError) as problem:
        raise RefusedError("unsafe", str(problem)) from None
    if journal.altered:
        raise RefusedError("altered", f"{state.shown}/journal.jsonl:{journal.altered}")
    return journal


@contextmanager
def _ground(site: Site, state: StateFolder, ident: str) -> Iterator[Ground]:
    folder = state.transaction(ident)
    try:
        yield Ground(state.files, folder, _run, site.root == "/", ident, site.reached)
    finally:
        folder.close()


def _run(argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
    return run_program(argv, timeout, env)


def _boot(site: Site) -> str:
    found = LiveHost(site.root).boot_id()
    return "" if isinstance(found, Unavailable) else clean_line(found)[:64]


def _who(site: Site) -> dict[str, Any]:
    login = LiveHost("/").read("/proc/self/loginuid", KIB)
    told = login.strip() if isinstance(login, str) else ""
    return {
        "uid": os.getuid(),
        "user": clean_line(site.environ.get("USER", ""))[:64],
        "sudo_user": clean_line(site.environ.get("SUDO_USER", ""))[:64],
        "login_uid": int(told) if told.isdecimal() and told != "4294967295" else None,
    }


def _audit(site: Site, message: str) -> None:
    """One line for the system's log, where this machine itself was changed by root."""
    if site.root == "/" and site.euid == 0:
        import syslog

        with suppress(OSError):
            syslog.openlog("ascend-doctor", syslog.LOG_PID, syslog.LOG_AUTHPRIV)
            syslog.syslog(syslog.LOG_NOTICE, message)


__all__ = [
    "Applied", "Event", "Fixable", "Foreign", "ForeignError", "Heard", "Looked", "NotPlannable", "Outcome", "Plan", "RefusedError", "Site",
    "TROUBLE", "Undone", "apply_plan", "failures", "fixable", "history", "make_plan", "refuse_unfit", "undo",
]  # fmt: skip
