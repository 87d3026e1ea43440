"""Decides container-rt-visible-devices-shrunk: fewer devices than the mask lists, or an old release's assertion."""

import re
from collections.abc import Iterator

from doctor.facts.target import Environment, Imports
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

MASK = "ASCEND_RT_VISIBLE_DEVICES"
_IDS = regex(r"\d{1,3}(?:,\d{1,3})*", re.ASCII)


def judge(environment: Environment | None, imports: Imports | None, matches: Matches) -> Iterator[Hit]:
    mask = environment.values.get(MASK, "") if environment is not None else ""
    listed = len(mask.split(",")) if _IDS.fullmatch(mask) else 0
    if not matches.looked and (environment is None or (listed and imports is None)):
        raise Skip("how many devices are visible is not known, and no log was given")
    lines = matches["assertion"]
    if lines:
        yield Hit(
            found=lines[0].text[:300] + (f" with {MASK}={mask}" if mask else ""),
            evidence=(evidence_of(lines),),
            confidence=Confidence.LIKELY if listed else Confidence.POSSIBLE,
            basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )
    seen = imports.device_count if imports is not None else None
    if listed and seen is not None and 0 < seen < listed:
        told = f"{MASK}={mask}, but {seen} device{'s' if seen > 1 else ''} visible"
        yield Hit(found=told, wanted=f"{listed} devices", evidence=(Evidence(imports.source if imports else "", told),))
