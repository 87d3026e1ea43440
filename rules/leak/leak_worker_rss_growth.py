"""The report says that host memory of the workers, or of the server as a whole, keeps growing."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    told = growth.told(matches)
    workers = growth.swollen_workers(matches) or tuple(said.match for said in growth.of_host(told) if said.who is growth.Who.WORKER)
    seen = workers or growth.lines(growth.untold(told, matches))
    if seen:
        said = "the workers keep growing in host memory" if workers else "host memory keeps growing; the report does not say of which process"
        yield growth.hit(seen, said, Confidence.LIKELY if workers else Confidence.POSSIBLE, None, "flat memory at equal load")
