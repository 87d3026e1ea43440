"""Names the services of KubeEdge and EdgeX that run on the host."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.neighbours import EdgeServices
from doctor.finding import Evidence, Hit


def judge(edge: EdgeServices) -> Iterator[Hit]:
    if edge.running:
        names = ", ".join(edge.running[:12])
        yield Hit(found=f"running: {names}", evidence=(Evidence(edge.source, names),), values={"services": names})
