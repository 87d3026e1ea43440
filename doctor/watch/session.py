"""One watch, whichever face shows it: takes samples, tells what changes, and sums up. Pure but for the rule book that it is given.

For a screen: `Session(settings, listener)`, `add(sample)`, `judged()`, `groups()`, `curves(...)`, `stalls`, `signals()`, `result(book)`.
The listener hears (kind, value): ("sample", Sample), ("stall", Stall), ("verdict", Judged) when a verdict changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from doctor import diagnosis
from doctor.diagnosis import Cause
from doctor.examine import Examination, Selection, examine_text
from doctor.finding import Basis, Confidence, Evidence, Finding, Outcome, Severity
from doctor.finding import Verdict as RuleVerdict
from doctor.logscan.scan import Chunk
from doctor.rulebook import Rulebook
from doctor.watch.account import account, caps
from doctor.watch.advice import Advice, advice, restart_hours
from doctor.watch.amounts import counted, span
from doctor.watch.history import History, Judged, Key, Pages
from doctor.watch.judge import Settings, Verdict
from doctor.watch.outlook import Group, groups, with_ends, within_caches
from doctor.watch.pressure import Pressure, Signal
from doctor.watch.sample import Sample
from doctor.watch.smaps import Kinds, from_event
from doctor.watch.stall import Stall, StallWatch

JUDGE_EVERY, JUDGE_SECONDS = 20, 60.0
"""Samples, and seconds, that lie at least between two judgements: judging a day of 64 processes costs about a second."""

Listener = Callable[[str, Any], None]

AREAS = ("leak", "hang", "memory", "hccl", "serving", "npu")
"""Areas whose causes explain growth and stalls."""

SEVERITY = {Verdict.SUSPECT: Severity.NOTE, Verdict.LEAK: Severity.WARN, Verdict.CRITICAL: Severity.FAIL}
STALL_SEVERITY = {"kv_idle": Severity.WARN, "api_silent": Severity.WARN, "blocked": Severity.WARN, "broadcast_start": Severity.NOTE}
_GROUP_RULES = {"shm": "leak-shm-stale-segments", "zombies": "leak-zombie-children"}


@dataclass(frozen=True)
class Result:
    """Everything that a watch has to say."""

    begin: float
    end: float
    every: float
    samples: int
    missed: int
    """Samples that should have been there within the time."""
    verdict: Verdict
    groups: tuple[Group, ...]
    stalls: tuple[Stall, ...]
    signals: tuple[Signal, ...]
    earlier: tuple[Signal, ...]
    """Signals that warned at some time and do not now."""
    advice: tuple[Advice, ...]
    restart_hours: float | None
    kinds: dict[int, Kinds]
    events: tuple[tuple[float, str], ...]
    settings: Settings
    examination: Examination | None = None
    text: str = ""
    """What the rule book heard."""
    pages: Pages = Pages()

    @property
    def causes(self) -> tuple[Cause, ...]:
        return self.examination.causes if self.examination is not None else ()

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst thing seen; None for nothing."""
        found = [SEVERITY[group.verdict] for group in self.groups if group.verdict in SEVERITY]
        found += [STALL_SEVERITY.get(stall.kind, Severity.FAIL) for stall in self.stalls]
        found += [Severity.WARN if signal.state == "warn" else Severity.NOTE for signal in (*self.signals, *self.earlier) if signal.state in ("warn", "note")]
        found += [cause.finding.severity for cause in self.causes]
        return max(found, default=None)


class Session:
    """A watch in progress."""

    def __init__(self, settings: Settings = Settings(), listener: Listener | None = None) -> None:  # noqa: B008 - frozen
        self.settings = settings
        self.history = History()
        self.watch = StallWatch()
        self.pressure = Pressure()
        self.about: list[str] = []
        self.kinds: dict[int, Kinds] = {}
        self.log: list[str] = []
        """The server's last log lines before each stall."""
        self._listener = listener or (lambda kind, value: None)
        self._known: dict[Key, Verdict] = {}
        self._judged: tuple[Judged, ...] = ()
        self._judged_at = 0
        self._judged_uptime = float("-inf")
        self._missed = 0

    @property
    def stalls(self) -> tuple[Stall, ...]:
        return tuple(self.watch.stalls)

    def add(self, sample: Sample) -> tuple[Stall, ...]:
        """The next sample; what stalls it begins."""
        last = self.history.last
        if sample.note:
            for event in sample.events:
                self._remember(event)
            return ()
        if last is not None and sample.boot == last.boot:
            self._missed += max(0, round((sample.uptime - last.uptime) / max(sample.every, 0.1)) - 1)
        for event in sample.events:
            self._remember(event)
        self.history.add(sample)
        self.pressure.add(sample)
        begun = self.watch.add(sample)
        self._listener("sample", sample)
        for stall in begun:
            self._listener("stall", stall)
        if self.history.count - self._judged_at >= JUDGE_EVERY and not 0 <= sample.uptime - self._judged_uptime < JUDGE_SECONDS:
            self.judged()
        return begun

    def _remember(self, event: str) -> None:
        if event.startswith("about ") and len(self.about) < 40:
            line = event[len("about ") :]
            if line not in self.about:
                self.about.append(line)
        elif event.startswith("log: "):
            self.log = [*self.log, event[len("log: ") :]][-400:]
        elif event.startswith("evidence "):
            kind, _, folder = event[len("evidence ") :].partition(" ")
            for stall in [stall for stall in self.stalls if stall.kind == kind and not stall.evidence][-1:]:
                self.watch.keep(stall, folder)
        elif (told := from_event(event)) is not None:
            self.kinds[told[0]] = told[1]

    def judged(self) -> tuple[Judged, ...]:
        """All verdicts as of now; tells the listener those that changed."""
        if self.history.last is None or self._judged_at == self.history.count:
            return self._judged
        found = within_caches(self.history.judged(self.settings), caps(self.about))
        self._judged = with_ends(found, self.history.last, self.settings)
        self._judged_at, self._judged_uptime = self.history.count, self.history.last.uptime
        for each in self._judged:
            if self._known.get(each.key) is not each.trend.verdict:
                self._known[each.key] = each.trend.verdict
                self._listener("verdict", each)
        return self._judged

    @property
    def fresh(self) -> bool:
        """Whether the last sample was judged."""
        return self._judged_at == self.history.count

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the last judgement."""
        return max((each.trend.verdict for each in self._judged), key=lambda each: each.rank, default=Verdict.TOO_SHORT)

    def groups(self) -> tuple[Group, ...]:
        return groups(self.judged())

    def signals(self) -> tuple[Signal, ...]:
        return self.pressure.signals()

    def alarmed(self) -> tuple[Judged, ...]:
        """Processes whose memory grows and whose kinds of memory are not known yet."""
        return tuple(each for each in self._judged if each.trend.verdict.bad and each.key.quantity in ("private", "shmem") and each.key.pid not in self.kinds and each.alive)

    def curves(self, quantity: str = "private", points: int = 60) -> dict[str, dict[str, tuple[tuple[float, float], ...]]]:
        """For sparklines: class -> process -> (seconds since the first sample, value), thinned to so many points."""
        found: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {}
        begin = self.history.begin
        for track in self.history.tracks.values():
            if track.key.quantity == quantity:
                label = f"{track.label} ({track.key.pid})" if track.key.pid else track.label or track.key.card
                found.setdefault(track.role, {})[label] = tuple((t - begin, value) for t, value in track.curve(points))
        return found

    def result(self, book: Rulebook | None = None, selection: Selection = Selection()) -> Result:  # noqa: B008 - frozen
        """The whole result; with the rule book, its causes, as far as they are selected."""
        first, last = self.history.first, self.history.last
        found = self.groups()
        told = [group.verdict for group in found if group.quantity in ("private", "hbm") or group.verdict.bad]
        verdict = max(told, key=lambda each: each.rank, default=Verdict.TOO_SHORT)
        signals = self.signals()
        warning = {signal.name for signal in signals if signal.state in ("warn", "note")}
        stalled = any(not stall.harmless for stall in self.stalls)
        text = account(self.about, found, self.kinds, self.log, stalled=stalled, settings=self.settings)
        result = Result(
            first.time if first else 0.0, last.time if last else 0.0, last.every if last else 0.0, self.history.count, self._missed, verdict, found, self.stalls,
            signals, tuple(signal for signal in self.pressure.seen if signal.name not in warning), advice(found, self.kinds, span(self.settings.least_leak)),
            restart_hours(found), dict(self.kinds), tuple((at, event) for at, event in self.history.events if not event.startswith(("about ", "smaps ", "log: "))),
            self.settings, text=text, pages=self.history.pages,
        )  # fmt: skip
        return result if book is None else replace(result, examination=_examined(result, book, selection))


def _examined(result: Result, book: Rulebook, selection: Selection) -> Examination:
    """What the rule book says of the watch: of its text, and of what was measured itself."""
    heard = selection if selection.only else replace(selection, only=AREAS)
    examination = examine_text("doctor watch", [Chunk("doctor watch", result.text.encode(), 1, False)], book, heard)
    chosen = {rule.id for rule in selection.chosen(book.rules.values())}
    measured = {finding.rule: finding for finding in _measured(result, book) if finding.rule in chosen}
    verdicts = [
        verdict if verdict.rule not in measured or verdict.outcome is Outcome.FOUND else replace(verdict, outcome=Outcome.FOUND, findings=(measured[verdict.rule],), why="")
        for verdict in examination.verdicts
    ]
    known = {verdict.rule for verdict in verdicts}
    verdicts += [RuleVerdict(rule, Outcome.FOUND, findings=(finding,)) for rule, finding in measured.items() if rule not in known]
    return replace(examination, kind="watch", verdicts=tuple(verdicts), causes=diagnosis.diagnose(verdicts, book.rules), first_error=None)


def _measured(result: Result, book: Rulebook) -> list[Finding]:
    found = []
    for stall in result.stalls:
        if not stall.harmless:
            lasted = span((stall.end or result.end) - stall.begin)
            found.append(_finding(book, stall.rule, STALL_SEVERITY.get(stall.kind, Severity.FAIL), f"{lasted}{', ' + stall.detail if stall.detail else ''}", stall.evidence or "doctor watch"))
    for signal in (*result.signals, *result.earlier):
        if signal.state in ("warn", "note"):
            found.append(_finding(book, signal.rule, Severity.WARN if signal.state == "warn" else Severity.NOTE, signal.measured, "/metrics", signal.wanted))
    for group in result.groups:
        rule = _GROUP_RULES.get(group.quantity, "")
        if group.verdict.rank >= Verdict.LEAK.rank and rule:
            found.append(_finding(book, rule, SEVERITY[group.verdict], f"+{counted(group.slope, group.worst.trend.unit)}/h", "doctor watch"))
    return [finding for finding in found if finding is not None]


def _finding(book: Rulebook, rule_id: str, severity: Severity, said: str, source: str, wanted: str = "") -> Finding | None:
    rule = book.rules.get(rule_id)
    if rule is None:
        return None
    evidence = (Evidence(source, said),)
    return Finding(rule_id, severity, Confidence.LIKELY, rule.title, rule.why, found=said, wanted=wanted, evidence=evidence, fixes=rule.fixes, decide=rule.undecided, basis=Basis.FACTS)


__all__ = ["Listener", "Result", "SEVERITY", "Session"]
