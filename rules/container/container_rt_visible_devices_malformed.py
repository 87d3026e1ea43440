"""Decides container-rt-visible-devices-malformed: a value of the mask that CANN reads only in part, or refuses."""

import re
from collections.abc import Iterator

from doctor.facts.target import Environment
from doctor.finding import Basis, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

MASK = "ASCEND_RT_VISIBLE_DEVICES"
LONGEST = 200
"""Characters of a mask that somebody wrote: 64 ids have fewer."""

_PLAIN = regex(r"\d{1,3}(?:,\d{1,3})*", re.ASCII)
_ALMOST = regex(r"[\d,;\s.~–-]*\d[\d,;\s.~–-]*", re.ASCII)
"""Digits with separators: anything else is a placeholder of a document or another script's variable."""


def judge(environment: Environment | None, matches: Matches) -> Iterator[Hit]:
    lines = matches["refused"]
    if lines:
        yield Hit(found=lines[0].text[:300], evidence=(evidence_of(lines),), basis=Basis.LOG, position=lines[0].ordinal + 1)
        return
    if environment is None and not matches.looked:
        raise Skip("no environment is known, and no log was given")
    mask = environment.values.get(MASK, "") if environment is not None else ""
    wrong = _fault(mask)
    if environment is None or wrong is None:
        return
    told = f"{MASK}={mask}: {wrong[0]}"
    yield Hit(
        found=told,
        wanted="numbers and commas, ascending",
        evidence=(Evidence(environment.source, told, environment.lines.get(MASK, 0)),),
        severity=wrong[1],
    )


def _fault(mask: str) -> tuple[str, Severity] | None:
    if not mask or mask == "-1" or len(mask) > LONGEST or not _ALMOST.fullmatch(mask):
        return None
    if not _PLAIN.fullmatch(mask):
        stripped = mask.strip().rstrip(",")
        mild = bool(_PLAIN.fullmatch(stripped))  # what follows the last number does no harm
        return "more than numbers and commas", Severity.NOTE if mild else Severity.FAIL
    ids = [int(number) for number in mask.split(",")]
    if len(set(ids)) < len(ids):
        return "an id is there twice", Severity.FAIL
    return ("not ascending", Severity.WARN) if ids != sorted(ids) else None
