"""What a rule says: evidence, findings and verdicts. Pure data."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from doctor.fix import Fix
from doctor.record import dataclass
from doctor.words import Words


class Severity(enum.IntEnum):
    """How bad a cause is, worst last so that they compare."""

    NOTE = 1
    WARN = 2
    FAIL = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Confidence(enum.IntEnum):
    """How sure the rule is of the cause, surest last."""

    POSSIBLE = 1
    LIKELY = 2
    SURE = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Basis(enum.IntEnum):
    """What a finding rests on, strongest last."""

    LOG = 1
    FACTS = 2
    BOTH = 3


@dataclass(frozen=True)
class Evidence:
    """Where it was seen. `source` is a path, a command or a log's name; `line` counts from 1, 0 for no line.

    For log lines, `first` and `last` are the numbers of the first and last matching line, `count` how many there were (from 400
    on, at least so many).
    """

    source: str
    text: str
    line: int = 0
    first: int = 0
    last: int = 0
    count: int = 1


@dataclass(frozen=True)
class Finding:
    """What one rule says about one subject."""

    rule: str
    severity: Severity
    confidence: Confidence
    title: Words
    why: Words
    subject: str = ""
    found: str = ""
    wanted: str = ""
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    decide: Words | None = None
    """What would decide, where the confidence is POSSIBLE."""
    basis: Basis = Basis.FACTS
    position: int = 0
    """Ordinal of the earliest evidence among all log lines; 0 for facts."""


@dataclass(frozen=True)
class Suppressed:
    """A finding that somebody chose not to count. `by` is the file that says so; `reason` is its author's, "" for a baseline."""

    finding: Finding
    by: str
    reason: str = ""
    until: str = ""
    """ISO date of the last day on which it is suppressed; "" for no end."""
    symptoms: tuple[Finding, ...] = ()

    def why(self, language: str) -> str:
        """One line that says by what, why and until when."""
        until = Words(f"until {self.until}", f"至 {self.until}")[language] if self.until else ""
        return " · ".join(part for part in (Words("suppressed by", "已忽略，依据")[language] + f" {self.by}", self.reason, until) if part)


class Outcome(enum.Enum):
    """What became of one rule."""

    CLEAR = "clear"
    FOUND = "found"
    SKIPPED = "skipped"
    BROKEN = "broken"


@dataclass(frozen=True)
class Verdict:
    """One rule's outcome. `why` is the reason of a skip or the traceback of a broken rule."""

    rule: str
    outcome: Outcome
    why: str = ""
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Hit:
    """What a rule's own logic returns: a cause file adds the words.

    `values` fill the `<placeholders>` of titles and steps. None for confidence or severity means the cause file's.
    """

    subject: str = ""
    found: str = ""
    wanted: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: Confidence | None = None
    severity: Severity | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    basis: Basis = Basis.FACTS
    position: int = 0


class Skip(Exception):
    """Raised by a rule's logic that cannot look: becomes SKIPPED with this reason, never CLEAR."""
