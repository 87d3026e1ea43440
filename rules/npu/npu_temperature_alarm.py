"""npu-temperature-alarm: a chip, or a log, shows one of these fault codes."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from ._codes import with_codes

CODES = ("80E00209", "80DE0207", "80E20207")


def judge(detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    yield from with_codes(CODES, detail, matches)
