"""npu-fault-restart-request: the worst fault code of a chip has the level L2 RestartRequest."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from ._codes import at_level


def judge(detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    yield from at_level("L2 RestartRequest", detail, matches)
