"""What a fix screen works on: the plan of one cause, made on fresh facts, and its applying or undoing while it runs. Knows no Textual.

Contract: it judges and changes nothing itself: `doctor.apply.engine` does. Everything here but reading a `Making` blocks; run it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.record import dataclass
from doctor.text import clean, clean_line
from doctor.tui.job import HostJob, Job
from doctor.tui.told import Told

if TYPE_CHECKING:
    from doctor.apply.engine import Applied, Event, Looked, Plan, Site
    from doctor.apply.journal import Transaction
    from doctor.apply.kind import Choices
    from doctor.report.model import Report

Off = frozenset[tuple[str, str]]
"""(rule, step key) of every step that was switched off."""


@dataclass(frozen=True)
class Place:
    """Where a cause is fixed. Where `why` is told, it can be planned but not applied; `seen` is then what it is planned on."""

    site: Callable[[], Site]
    why: Told | None = None
    seen: Looked | None = None

    def given(self, choices: Choices) -> Place:
        """The same place, with what the user gives to its plans."""
        return replace(self, site=lambda: replace(self.site(), choices=choices), seen=replace(self.seen, choices=choices) if self.seen is not None else None)


@dataclass(frozen=True)
class Planned:
    """One plan. `whole` has every step, `plan` only those that are on; without a plan `hindrance` says why there is none, else why it cannot be applied."""

    whole: Plan | None = None
    plan: Plan | None = None
    hindrance: Told | None = None
    looked: Looked | None = None
    ways: tuple[str, ...] = ()
    """Ids of the cause's fixes, where there are several."""

    @property
    def done(self) -> bool:
        """Everything is as wanted already."""
        return self.whole is not None and bool(self.whole.fixes) and all(fix.already for fix in self.whole.fixes)

    @property
    def lacking(self) -> bool:
        """A step cannot be done as it is."""
        return self.whole is not None and any(fix.blocked for fix in self.whole.fixes)

    @property
    def ready(self) -> bool:
        return self.plan is not None and self.plan.applicable and self.hindrance is None

    @property
    def typed(self) -> tuple[str, ...]:
        """Ids of the rules that have to be typed before it is applied."""
        from doctor.fix import Safety

        fixes = self.plan.fixes if self.plan is not None else ()
        return tuple(dict.fromkeys(fix.rule for fix in fixes if fix.safety is Safety.ASK and not fix.already))


def place_of(job: Job, report: Report | None, unsafe: str = "") -> Place | Told:
    """Where the causes of a job are fixed, or why nothing can be planned. `unsafe` is what others could change of this doctor, run by root."""
    if not isinstance(job, HostJob):
        return Told("fix_log_only")

    def site() -> Site:
        from doctor.apply.engine import Site
        from doctor.logscan.sources import all_chunks
        from doctor.rulebook import load

        return Site(load(), job.root or "/", job.python, logs=lambda: all_chunks(job.logs, [], lambda size: None), timeout_scale=job.timeout_scale)

    if job.root:
        return Place(site, Told("fix_unsafe", {"path": unsafe}) if unsafe else None)
    if report is None:
        return Told("not_yet")
    from doctor.apply.engine import Looked

    return Place(site, Told("fix_recorded"), Looked(report.examination, job.host))


def planned(place: Place, rule: str, way: str = "", off: Off = frozenset(), looked: Looked | None = None) -> Planned:
    """The plan of one cause, by one of its fixes (`way`) or by the first that can be applied; `looked` is an earlier look, to be used again."""
    from doctor.apply.engine import NotPlannable, make_plan, refuse_unfit
    from doctor.apply.engine import RefusedError as Refused

    site = place.site()
    name = (f"{rule}/{way}" if way else rule,)
    looked = replace(looked, choices=site.choices) if looked is not None else place.seen or site.look(only=(rule,))
    known = looked.examination.book.rules.get(rule)
    ways = tuple(fix.id for fix in known.fixes) if known is not None and len(known.fixes) > 1 else ()
    try:
        whole = make_plan(looked, name)
        plan = make_plan(looked, name, tuple(off)) if off else whole
    except NotPlannable as problem:
        key = "clear" if problem.kind == "clear" else f"refused_{problem.kind}"
        return Planned(hindrance=Told(key, {"about": clean_line(problem.name), "why": clean_line(problem.why)}), looked=looked, ways=ways)
    if place.why is not None:
        return Planned(whole, plan, place.why, looked, ways)
    try:
        refuse_unfit(plan, site)
    except Refused as problem:
        return Planned(whole, plan, refusal(problem.kind, problem.about), looked, ways)
    return Planned(whole, plan, None, looked, ways)


def refusal(kind: str, about: str) -> Told:
    return Told(f"refused_{kind}", {"about": clean_line(about) or "?"})


def pulled(plan: Plan, off: Off) -> Off:
    """The steps that go with those that are off, since they make no sense without them."""
    gone = set(off)
    for fix in plan.fixes:
        for step in fix.steps:
            if any((fix.rule, key) in gone for key in step.after):
                gone.add((fix.rule, step.key))
    return frozenset(gone)


class Making:
    """One apply or undo: written by its thread, read by the screen. Appends and single assignments are atomic, so no lock is needed."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.back: list[str] = []
        """Subjects that an undo put back."""
        self.applied: tuple[Applied, ...] = ()
        self.problem: Told | None = None
        self.details: list[str] = []
        """Lines that belong to the problem, or to what was left alone."""
        self.undone = ""
        self.over = threading.Event()

    @property
    def transaction(self) -> str:
        """The newest that stands and can be undone."""
        return next((one.transaction for one in reversed(self.applied) if one.outcome.value in ("fixed", "pending", "broken off")), "")

    def apply(self, place: Place, names: Sequence[str], reviewed: str, off: Off) -> None:
        """In a thread."""
        from doctor.apply.engine import NotPlannable, RefusedError, apply_plan

        try:
            self.applied = apply_plan(place.site(), tuple(names), reviewed, self.events.append, tuple(off))
        except RefusedError as problem:
            self.problem = refusal(problem.kind, problem.about)
        except NotPlannable as problem:
            key = "clear" if problem.kind == "clear" else f"refused_{problem.kind}"
            self.problem = Told(key, {"about": clean_line(problem.name), "why": clean_line(problem.why)})
        except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; the journal knows how far it came
            self.problem = _bug(problem)
        finally:
            self.over.set()

    def undo(self, place: Place, transaction: str) -> None:
        """In a thread."""
        from doctor.apply.engine import TROUBLE, ForeignError, RefusedError, undo

        try:
            done = undo(place.site(), transaction, self.back.append)
            self.undone = done.transaction
            self.details = [clean_line(subject) for subject in done.put_back.left]
        except RefusedError as problem:
            self.problem = refusal(problem.kind, problem.about)
        except ForeignError as problem:
            self.problem = Told("undo_refused", {"subject": clean_line(", ".join(item.subject for item in problem.foreign))})
            self.details = [line for item in problem.foreign for line in clean(item.difference).splitlines()]
        except (*TROUBLE, Exception) as problem:  # noqa: BLE001  as above
            self.problem = _bug(problem)
        finally:
            self.over.set()


def _bug(problem: BaseException) -> Told:
    return Told("fix_failed", {"why": clean_line(f"{type(problem).__name__}: {problem}")[:300]})


def journal(place: Place) -> tuple[Transaction, ...] | Told:
    """Every transaction, newest first, or why they cannot be told."""
    from doctor.apply.engine import RefusedError, history

    try:
        return tuple(reversed(history(place.site())))
    except RefusedError as problem:
        return refusal(problem.kind, problem.about)


def wait_for(makings: Iterable[Making]) -> None:
    """Until what is being made is finished or put back: the app may not end in the middle of it."""
    for making in makings:
        making.over.wait()


__all__ = ["Making", "Off", "Place", "Planned", "Told", "journal", "place_of", "planned", "pulled", "refusal", "wait_for"]
