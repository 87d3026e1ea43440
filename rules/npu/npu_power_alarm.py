"""npu-power-alarm: a chip, or a log, shows one of these fault codes."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Hit
from doctor.logscan.signature import Matches

from ._codes import with_codes

CODES = ("80E21007", "80E21008", "80E2120D", "80E3A201", "80E3A203")


def judge(detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    yield from with_codes(CODES, detail, matches)
