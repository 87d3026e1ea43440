"""Where no rule explains a log: its first real error, and what its codes mean.

Contract: pure; looks only at what the scan kept. The first exception of a chain is the innermost one, since Python prints it first; followers
(the engine is dead, the task was cancelled) never count: an orderly stop prints them too.
"""

from __future__ import annotations

from collections.abc import Iterable

from doctor.finding import Basis, Evidence, Severity
from doctor.logscan.scan import Match, Scan
from doctor.logscan.signature import SHOWN, ordered
from doctor.record import dataclass
from doctor.regex import regex

EXCEPTION = (
    r"^(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60}(?:Error|Exception|Fault|Exit|Interrupt))(?:: (?P<text>.{0,2000}))?$"
)
"""The last line of a Python traceback."""

CODED = (r"\[PID: ?\d{1,10}\]", r"error code is \d{6}", r"errno:\d{6}", r"ERR0[0-4]\d{3} ", r"runtime result = \d{6}", r"ret is -\d{4}")
"""Lines that carry a code of CANN, ACL, torch_npu or DCMI."""

FATAL = (
    r"Segmentation fault",
    r"core dumped",
    r"Fatal Python error",
    r"terminate called after throwing",
    r"error while loading shared libraries",
    r"[Oo]ut of memory: Killed process",
    r"^error: ",
)
"""Ends of a process without a traceback."""

PATTERNS = (*CODED, *FATAL, EXCEPTION)  # a line that several match counts as the last of them

_FOLLOWERS = regex(r"(?:EngineDeadError|CancelledError|KeyboardInterrupt|SystemExit|BrokenPipeError|ConnectionResetError|EOFError)\Z")
_CODES_WITHIN = 80
"""Lines around the first error in which codes belong to it: torch_npu prints CANN's report below its own message."""


@dataclass(frozen=True)
class FirstError:
    """The first error that no rule explains. `codes` are in the order of the text; `others` is how many more lines show an error."""

    evidence: Evidence
    kind: str
    codes: tuple[str, ...]
    others: int


def first_error(scan: Scan) -> FirstError | None:
    """The first error of the log, or None where there is none."""
    found = ordered(scan, PATTERNS)
    exceptions = [match for match in found if "type" in match.groups and not _FOLLOWERS.search(match.groups["type"])]
    coded = [match for match in found if "type" not in match.groups]
    if not exceptions and not coded:
        return None
    first = (exceptions or coded)[0]
    others = len(exceptions) + len(coded) - 1
    return FirstError(Evidence(first.source, first.text[:SHOWN], first.line), first.groups.get("type", ""), _codes(first, found), others)


def _codes(first: Match, found: Iterable[Match]) -> tuple[str, ...]:
    from doctor.errorcodes import find_codes

    near = [match.text for match in found if abs(match.ordinal - first.ordinal) <= _CODES_WITHIN]
    return tuple(dict.fromkeys(code for text in near for code in find_codes(text)))[:8]


def explained(findings: Iterable[tuple[Basis, Severity]]) -> bool:
    """Whether any finding of a log says what is wrong; what only the facts show does not explain an error in the text."""
    return any(basis is not Basis.FACTS and severity is not Severity.NOTE for basis, severity in findings)
