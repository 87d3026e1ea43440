"""What `doctor diff` finds between two looks at the same machine: NPU fault codes and memory errors that were not there before.

Contract: pure but for the rule book that it asks. Nothing is said of two machines, nor of a card that the older look does not tell of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from doctor.facts.npu import NpuDetail

if TYPE_CHECKING:
    from doctor.diagnosis import Cause
    from doctor.rulebook import Rulebook

RULE = "npu-new-fault-codes"
_STAND_IN = re.compile(r"host-[0-9a-f]{6}")
"""A host's name that a bundle has masked, another one in each bundle."""
_COUNTER = re.compile(r"double bit|isolated", re.IGNORECASE)


@dataclass(frozen=True)
class Look:
    """One look at one machine. `detail` None: its cards told nothing."""

    machine: str
    time: datetime
    detail: NpuDetail | None


def sentences(looks: Sequence[Look]) -> Iterator[str]:
    """What is new from each look to the next one at the same machine, oldest first."""
    for machine in dict.fromkeys(look.machine for look in looks if look.machine and not _STAND_IN.fullmatch(look.machine)):
        ordered = sorted((look for look in looks if look.machine == machine and look.detail is not None), key=lambda look: look.time)
        for older, newer in zip(ordered, ordered[1:], strict=False):
            if older.detail is not None and newer.detail is not None:
                span = f"{older.time:%Y-%m-%d %H:%M} UTC, seen {newer.time:%Y-%m-%d %H:%M} UTC"
                yield from (f"New since {span}: {what}" for what in _new(older.detail, newer.detail))


def _new(older: NpuDetail, newer: NpuDetail) -> Iterator[str]:
    from doctor.errorcodes import explain

    for (npu, chip), codes in newer.fault_codes.items():
        before = older.fault_codes.get((npu, chip))
        if before is not None:
            for code in (code for code in codes if code not in before):
                level = next((found.level for found in explain(code) if found.family == "npu" and found.level), "no level known")
                yield f"NPU {npu} chip {chip} reports fault code {code} ({level})"
    for (npu, chip), counters in newer.ecc.items():
        known = older.ecc.get((npu, chip), {})
        for name, value in counters.items():
            if _COUNTER.search(name) and name in known and value > known[name]:
                yield f"NPU {npu} chip {chip} counts {value - known[name]} more: {name} {known[name]} before, {value} now"


def causes(looks: Sequence[Look], book: Rulebook) -> tuple[Cause, ...]:
    """What the rule book says of it."""
    told = list(sentences(looks))
    if not told:
        return ()
    from doctor.examine import Selection, examine_text
    from doctor.logscan.sources import text_chunk

    return examine_text("doctor diff", [text_chunk("\n".join(told), "doctor diff")], book, Selection(only=(RULE,))).causes


__all__ = ["Look", "RULE", "causes", "sentences"]
