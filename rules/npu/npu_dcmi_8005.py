"""npu-dcmi-8005: npu-smi itself, or a log, says that the device interface cannot be initialised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.npu import NpuPresence, NpuSmi
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from ._answers import failed


def judge(smi: NpuSmi | None, presence: NpuPresence | None, matches: Matches) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        return
    for hit in failed("-8005", smi, matches, "failed"):
        yield replace(hit, confidence=Confidence.LIKELY)
