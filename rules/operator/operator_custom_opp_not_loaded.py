"""Packages of custom operators on disk that CANN does not load, and entries of its search path that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.custom_ops import OpLoading
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(loading: OpLoading | None, matches: Matches) -> Iterator[Hit]:
    if loading is None:
        if not matches.looked:
            raise Skip("the operators of the toolkit are not known, and no log was given")
        return
    for path, why in loading.lost:
        yield Hit(
            subject=path,
            found=f"{path} is not there" if why == "missing" else f"{path} is not in load_priority" if why == "priority" else f"{path} is no folder of a vendor",
            wanted="a folder below vendors that is loaded",
            evidence=(Evidence(loading.source, f"{path}: {why}"),),
            confidence=Confidence.LIKELY,
        )
