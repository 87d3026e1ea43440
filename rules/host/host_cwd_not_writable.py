"""A working folder that the user of the server may not write to."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.rights import SEARCH, WRITE, Rights
from doctor.facts.target import Environment, Target
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(rights: Rights | None, environment: Environment | None, target: Target | None, matches: Matches) -> Iterator[Hit]:
    if rights is None or rights.own is None or rights.work is None:
        if not matches.looked:
            raise Skip("the mode of the working folder, or the user of the server, is not known")
        return
    if environment is not None and environment.values.get("ASCEND_WORK_PATH"):
        return
    if rights.work.refuses(rights.own, WRITE | SEARCH):
        yield Hit(
            found=f"user {rights.own.uid} may not write to {rights.work.path} ({rights.work.told})",
            wanted="a folder of that user, or ASCEND_WORK_PATH",
            evidence=(Evidence(rights.work.path, rights.work.told), Evidence(rights.own.source, f"uid {rights.own.uid}, groups {rights.own.groups}")),
            confidence=Confidence.LIKELY,
            severity=None if target is not None and target.pid else Severity.WARN,  # a server may be started elsewhere
        )
