"""A rule: one cause that doctor can recognise. Pure data; it changes nothing and reads nothing itself."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from doctor.finding import Confidence, Severity
from doctor.fix import Fix
from doctor.record import dataclass
from doctor.words import Words

Silent = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of the fact types that a rule asks for, and what it tells as missing without them; nothing: it is clear."""


class Role(enum.Enum):
    """Where a finding stands in a chain of causes."""

    CAUSE = "cause"
    SYMPTOM = "symptom"
    """Follows from something else (a worker died): shown under any cause that was found, first only if alone."""
    WRAPPER = "wrapper"
    """Only wraps another error (ERR00100): weaker than a symptom."""


@dataclass(frozen=True)
class Near:
    """A pattern that must (or must not) stand within `lines` lines of the evidence; `lines` 0 is anywhere in the report."""

    patterns: tuple[str, ...]
    lines: int = 0


@dataclass(frozen=True)
class Signature:
    """How a log shows the cause: any of `patterns` on a line, and around it what the other fields ask for.

    `near` and `unless`: each entry must (must not) be there. `after`/`before`: the evidence must come after the first (before
    the last) line that matches; where no line matches, it does not hold.
    """

    patterns: tuple[str, ...]
    near: tuple[Near, ...] = ()
    unless: tuple[Near, ...] = ()
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    count: int = 1
    """Lines that must match at least."""


@dataclass(frozen=True)
class Decision:
    """One way to decide: a signature, a condition over facts, or both, which must then agree.

    `unknown` is the confidence when the signature matches and the facts of `when` are not known; None: silent then.
    """

    signature: Signature | None = None
    when: Any = None
    """As in the YAML file; `doctor.conditions` compiles it."""
    confidence: Confidence = Confidence.SURE
    unknown: Confidence | None = None
    severity: Severity | None = None
    found: str = ""
    wanted: str = ""

    @property
    def on_machines(self) -> bool:
        """Whether it decides on machines only: its condition names `target.python`, so that it neither fires on a text nor keeps one from being clear."""
        return isinstance(self.when, Mapping) and "target.python" in self.when


@dataclass(frozen=True)
class Rule:
    """One cause file, with its logic if it has a Python file beside it."""

    id: str
    area: str
    severity: Severity
    title: Words
    why: Words
    role: Role = Role.CAUSE
    checks: Words | None = None
    example: str = ""
    decisions: tuple[Decision, ...] = ()
    explains: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    undecided: Words | None = None
    related: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Named signatures for the Python logic, which gets their matches as `Matches`."""
    logic: Callable[..., Any] | None = None
    origin: str = "built in"

    @property
    def scanned(self) -> tuple[str, ...]:
        """Every pattern that the rule needs scanned."""
        return tuple(_scanned(self))

    @property
    def deciding(self) -> tuple[str, ...]:
        """The patterns of which one must match before a log says anything: the others only look around what these match."""
        of_decisions = (pattern for decision in self.decisions if decision.signature for pattern in decision.signature.patterns)
        return tuple(dict.fromkeys((*(pattern for group in self.patterns.values() for pattern in group), *of_decisions)))

    @property
    def by_log_only(self) -> bool:
        """Whether every way to decide begins with a line of a log."""
        return self.logic is None and self.decisions != () and all(decision.signature is not None for decision in self.decisions)

    @property
    def silent(self) -> Silent | None:
        """What is said where no line decides and no fact that is asked for is known; None: that has to be tried."""
        return ((), ()) if self.by_log_only else None

    @property
    def kind(self) -> str:
        """What it looks at: "facts", "log" or "facts and log"."""
        log = bool(self.patterns) or any(decision.signature for decision in self.decisions)
        facts = self.logic is not None or any(decision.when is not None for decision in self.decisions)
        return "facts and log" if log and facts else "log" if log else "facts"


def _scanned(rule: Rule) -> Iterator[str]:
    for group in rule.patterns.values():
        yield from group
    for decision in rule.decisions:
        signature = decision.signature
        if signature is not None:
            yield from signature.patterns
            for near in (*signature.near, *signature.unless):
                yield from near.patterns
            yield from signature.after
            yield from signature.before
