"""A look at the NPUs, and the lines that tell it: chips with bars and a short history, then the processes on them. Knows no screen.

Contract: one look asks `npu-smi info` once, with its own time limit, and reads the list of processes; nothing else touches a device.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from doctor.locale import Speak
from doctor.record import dataclass
from doctor.report.style import padded, short
from doctor.text import cell_width, truncate
from doctor.tui.glyphs import Glyphs

if TYPE_CHECKING:
    from doctor.facts import Facts
    from doctor.facts.npu_types import Npus
    from doctor.facts.npu_use import ChipUse, Holder
    from doctor.host import Host

KEPT = 60
"""Values of each history."""

MIDDLE, WIDE = 76, 117
"""Cells from which on there are names and a bar, and from which on histories as well."""


@dataclass(frozen=True)
class Look:
    """What one look found. `problem` says why there is no table; `recorded` that another look would show the same."""

    uses: tuple[ChipUse, ...] = ()
    npus: Npus | None = None
    at: datetime | None = None
    seconds: float = 0.0
    problem: str = ""
    processes_known: bool = True
    recorded: bool = False


def look(host: Host) -> Look:
    """Asks the host, as a check does."""
    from doctor.facts import HostFacts
    from doctor.facts.npu import Npus, NpuSmi
    from doctor.host import Unavailable

    facts = HostFacts(host)
    smi, npus, processes = facts.get(NpuSmi), facts.get(Npus), host.processes()
    seconds = 0.0 if isinstance(smi, Unavailable) else smi.seconds
    if isinstance(npus, Unavailable):
        return Look(at=host.now(), seconds=seconds, problem=str(npus), recorded=not host.live)
    from doctor.facts.npu_use import chip_uses

    listed = None if isinstance(processes, Unavailable) else processes
    return Look(chip_uses(npus, listed), npus, host.now(), seconds, "", listed is not None, not host.live)


def told(facts: Facts) -> Look:
    """What a text tells."""
    from doctor.facts.npu import Npus
    from doctor.facts.npu_use import chip_uses
    from doctor.host import Unavailable

    npus = facts.get(Npus)
    if isinstance(npus, Unavailable):
        return Look(problem=str(npus), recorded=True)
    return Look(chip_uses(npus, None), npus, processes_known=False, recorded=True)


@dataclass
class History:
    """The last values of each chip, by (NPU, chip): AICore and memory as shares of 1."""

    aicore: dict[tuple[int, int], deque[float | None]] = field(default_factory=dict)
    memory: dict[tuple[int, int], deque[float | None]] = field(default_factory=dict)

    def add(self, uses: Sequence[ChipUse]) -> None:
        for use in uses:
            key = use.npu.npu_id, use.npu.chip_id or 0
            self.aicore.setdefault(key, deque(maxlen=KEPT)).append(_busy(use))
            self.memory.setdefault(key, deque(maxlen=KEPT)).append(_full(use))


def _busy(use: ChipUse) -> float | None:
    return None if use.npu.aicore_percent is None else use.npu.aicore_percent / 100


def _full(use: ChipUse) -> float | None:
    used, total = use.memory
    return used / total if used is not None and total else None


class Table:
    """Lays a look out for a width."""

    def __init__(self, look: Look, history: History, speak: Speak, glyphs: Glyphs, width: int) -> None:
        self.look, self.history, self.speak, self.glyphs, self.width = look, history, speak, glyphs, width

    def content(self) -> Content:
        return Content("\n").join(list(self.lines()))

    def lines(self) -> Iterator[Content]:
        if self.look.problem:
            yield Content(self.speak("npus_none"))
            yield Content.styled(short(self.look.problem, 300), "dim")
            return
        yield Content.styled(self._cut("".join(padded(self.speak(f"npus_{name}"), cells) for name, cells in self._columns())), "bold")
        for use in self.look.uses:
            yield self._chip(use)
            for mark in use.marks:
                yield Content.styled(self._cut("      ! " + self.speak(f"npus_mark_{mark}")), "bold $text-warning")
        yield Content("")
        yield from self._processes()

    def _columns(self) -> Iterator[tuple[str, int]]:
        """(name, cells) of the columns of chips that the width has room for."""
        wide, middle = self.width >= WIDE, self.width >= MIDDLE
        if wide:
            yield from (("id", 6), ("name", 12), ("health", 10), ("power", 9), ("temperature", 7))
            yield from (("aicore", 6), ("aicore_bar", 9), ("aicore_history", 13), ("memory", 17), ("share", 6), ("memory_bar", 13), ("memory_history", 9))
        elif middle:
            yield from (("id", 6), ("name", 9), ("health", 9), ("power", 9), ("temperature", 6), ("aicore", 7), ("memory", 16), ("share", 5), ("memory_bar", 9))
        else:
            yield from (("id", 5), ("health", 9), ("power", 9), ("temperature", 6), ("aicore", 7), ("memory", 16), ("share", 5))

    def _chip(self, use: ChipUse) -> Content:
        npu, key = use.npu, (use.npu.npu_id, use.npu.chip_id or 0)
        several = any(other.npu.npu_id == npu.npu_id and other is not use for other in self.look.uses)
        used, total = use.memory
        full, health = _full(use), npu.health or "-"
        texts: Mapping[str, str] = {
            "id": f"{npu.npu_id}/{npu.chip_id or 0}" if several else str(npu.npu_id),
            "name": short(npu.name, 20),
            "health": short(health, 9),
            "power": "-" if npu.power_w is None else f"{npu.power_w:.1f} W",
            "temperature": "-" if npu.temperature_c is None else f"{npu.temperature_c:.0f} C",
            "aicore": "-" if npu.aicore_percent is None else f"{npu.aicore_percent:3.0f}%",
            "aicore_bar": self.glyphs.bar(_busy(use), 8),
            "aicore_history": self.glyphs.history(list(self.history.aicore.get(key, ())), 12),
            "memory": "-" if used is None or not total else f"{used / 1024:5.1f}/{total / 1024:.1f} GiB",
            "share": "" if full is None else f"{100 * full:3.0f}%",
            "memory_bar": self.glyphs.bar(full, 12 if self.width >= WIDE else 8),
            "memory_history": self.glyphs.history(list(self.history.memory.get(key, ())), 8),
        }
        quiet = "$text-primary"
        styles = {
            "health": "" if health.upper() == "OK" else "bold $text-error", "aicore_bar": quiet, "aicore_history": quiet, "memory_history": quiet,
            "memory_bar": _level(full),
        }  # fmt: skip
        cells = [Content.styled(_cell(texts[name], room), styles.get(name, "")) for name, room in self._columns()]
        return Content("").join(cells)

    def _processes(self) -> Iterator[Content]:
        holders = [(use, holder) for use in self.look.uses for holder in use.holders]
        if not holders:
            yield Content.styled(self.speak("npus_no_process"), "dim")
            return
        head = padded(self.speak("npus_process"), 10) + padded(self.speak("npus_id"), 6) + padded(self.speak("npus_memory"), 11)
        yield Content.styled(self._cut(head + padded(self.speak("npus_what"), self._what(holders)) + self.speak("npus_command")), "bold")
        for use, holder in sorted(holders, key=lambda pair: (not pair[1].odd, pair[0].npu.npu_id, pair[0].npu.chip_id or 0, pair[1].process.pid)):
            yield self._process(use, holder, self._what(holders))
        states = dict.fromkeys(holder.state for _, holder in holders)
        for state in ("leftover", "zombie", "unseen", "unknown"):
            if state in states:
                yield Content.styled(self._cut("  " + self.speak(f"npus_about_{state}")), "dim")

    def _what(self, holders: Sequence[tuple[ChipUse, Holder]]) -> int:
        return max(cell_width(self._role(holder)) for _, holder in holders) + 2

    def _role(self, holder: Holder) -> str:
        word = self.speak(f"npus_state_{holder.state}")
        return f"{word} {holder.role}" if holder.role else word

    def _process(self, use: ChipUse, holder: Holder, what: int) -> Content:
        process, memory = holder.process, holder.process.memory_mb
        held = "-" if memory is None else f"{memory / 1024:.1f} GiB"
        start = "".join(_cell(text, room) for text, room in ((str(process.pid), 10), (str(use.npu.npu_id), 6), (held, 11)))
        command = short(" ".join(holder.argv) or process.name, 400)
        room = max(8, self.width - 10 - 6 - 11 - what)
        style = "bold $text-warning" if holder.odd else ""
        return Content.assemble(start, (padded(self._role(holder), what), style), (truncate(command, room, "..."), "dim"))

    def _cut(self, text: str) -> str:
        return truncate(text, self.width, "...")


def _cell(text: str, room: int) -> str:
    return padded(truncate(text, room - 1, ""), room)


def _level(share: float | None) -> str:
    return "$text-error" if share is not None and share > 0.97 else "$text-warning" if share is not None and share > 0.9 else "$text-success"


__all__ = ["History", "Look", "Table", "look", "told"]
