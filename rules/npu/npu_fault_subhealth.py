"""npu-fault-subhealth: the worst fault code of a chip has the level SubHealth."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from ._codes import at_level


def judge(detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    yield from at_level("SubHealth", detail, matches)
