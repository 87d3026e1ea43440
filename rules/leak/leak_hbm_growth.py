"""The report says that NPU memory keeps growing."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    told = growth.told(matches)
    seen = tuple(said.match for said in told if said.where is growth.Where.DEVICE and said.who is not growth.Who.GATEWAY)
    if not seen and growth.speaks_of_device(matches):
        seen = growth.lines(growth.of_device(told))
    if seen:
        severity = Severity.FAIL if matches["oom"] else Severity.WARN
        yield growth.hit(seen, "NPU memory keeps growing", Confidence.LIKELY, severity, "constant NPU memory once the pools are built")
