"""Decides host-node-permission-user: access to the device nodes is refused, and this is not a container."""

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.finding import Basis, Confidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of


def judge(container: Container | None, matches: Matches) -> Iterator[Hit]:
    if not matches.looked:
        raise Skip("no log was given")
    if container is not None and container.inside:
        return
    lines = matches["denied"]
    if lines:
        yield Hit(
            found=lines[0].text[:300],
            evidence=(evidence_of(lines),),
            confidence=Confidence.POSSIBLE if container is None and "/dev/" not in lines[0].text else Confidence.LIKELY,
            basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )
