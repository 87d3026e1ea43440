"""The report says that NPU memory keeps growing."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.finding import Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth


def judge(matches: Matches) -> Iterator[Hit]:
    seen = tuple(said.match for said in growth.told(matches) if said.where is growth.Where.DEVICE and said.who is not growth.Who.GATEWAY)
    if seen:
        severity = Severity.FAIL if matches["oom"] else Severity.WARN
        yield growth.hit(seen, "NPU memory keeps growing", Confidence.LIKELY, severity, "constant NPU memory once the pools are built")
