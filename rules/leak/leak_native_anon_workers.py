"""Workers that grow in mappings without reservation: native memory that Python tools do not see."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    seen = growth.lines(growth.of_host(growth.told(matches)))
    if seen and matches["noreserve"]:
        yield growth.hit(seen, "host memory grows in no-reserve mappings", Confidence.LIKELY, None, "flat anonymous memory")
