"""Decides container-build-without-driver: a missing driver library within the output of an image build."""

from collections.abc import Iterator

from doctor.finding import Basis, Hit
from doctor.logscan.signature import Matches, evidence_of

NEAR = 80
"""Lines of build output between a step's mark and its error."""


def judge(matches: Matches) -> Iterator[Hit]:
    marks = [match.ordinal for match in matches["build"]]
    lines = tuple(match for match in matches["missing"] if any(abs(match.ordinal - at) <= NEAR for at in marks))
    if lines:
        yield Hit(found=lines[0].text[:300], evidence=(evidence_of(lines),), basis=Basis.LOG, position=lines[0].ordinal + 1)
