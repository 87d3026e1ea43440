"""npu-held-by-other-container: npu-smi itself, or a log, says that the device is used elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuSmi
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from ._answers import failed


def judge(smi: NpuSmi | None, matches: Matches) -> Iterator[Hit]:
    yield from failed("-8020", smi, matches, "held")
