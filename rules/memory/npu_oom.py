"""Reads torch_npu's "NPU out of memory" messages and does their arithmetic. Not a rule: the memory rules share it. Pure; never raises.

Sizes are printed with binary units (1 GiB = 1024 MiB) and two digits. What the numbers can tell:
total - reserved - free is held outside this process's torch pool, allocated / total is what torch really uses, and
reserved - allocated is cached, but in pieces.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.scan import Match
from doctor.logscan.signature import Matches, evidence_of
from doctor.record import dataclass
from doctor.regex import regex

GIB = 2**30
MUCH_OUTSIDE = 11 * GIB
"""Communication buffers and operator workspaces of one process were measured at 6 to 11 GiB; more belongs to somebody else."""
SOME_OUTSIDE = 4 * GIB
"""The idle baseline of a chip and a small context stay below."""
FULL = 0.93
"""Share of the card that torch itself has allocated from which nothing but fewer bytes helps (0.966 in the reference report)."""
SCATTERED, VERY_SCATTERED = 0.05, 0.2
"""Share of the reserved memory that is not allocated: from here on it may count, from there on it is likely the cause."""
OWN_ENTRY_MB = 1024
"""A smaller entry of npu-smi's process table is a bare context (about 107 MB), not a job."""
HIGH_UTILIZATION = 0.9
"""vLLM's long-time default; above it the pool leaves less than 6 GiB of a 64 GB card for everything outside torch."""
_CONTINUED = 4
"""Lines behind a cut message that may carry its numbers."""


class Form(enum.Enum):
    """Which message it is."""

    TORCH = "torch"
    """The caching allocator's, with its numbers, whole or cut off."""
    WORKSPACE = "workspace"
    """The operator workspace allocator's: it prints neither allocated nor reserved bytes."""
    MODEL = "model"
    """A graph engine load: only a device number."""
    FRACTION = "fraction"
    """Rejected because of per_process_memory_fraction."""
    ABSURD = "absurd"
    """More than 1 EB: a wrong size, not a full card."""
    MENTION = "mention"
    """Told in prose, or cut off behind the first words."""


class Cause(enum.Enum):
    """What the arithmetic decides for."""

    OTHER_PROCESS = "other process"
    SHORTAGE = "shortage"
    FRAGMENTATION = "fragmentation"
    WORKSPACE = "workspace"
    FRACTION = "fraction"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class NpuOom:
    """One message; sizes in bytes, None where the text does not tell them."""

    form: Form
    device: str | None = None
    """As the process counts: below ASCEND_RT_VISIBLE_DEVICES it is not npu-smi's number."""
    wanted: int | None = None
    total: int | None = None
    allocated: int | None = None
    active: int | None = None
    free: int | None = None
    allowed: int | None = None
    reserved: int | None = None

    @property
    def outside(self) -> int | None:
        """Bytes in use on the card that are not in this process's torch pool."""
        if self.total is None or self.reserved is None or self.free is None:
            return None
        return self.total - self.reserved - self.free

    @property
    def used_share(self) -> float | None:
        """Allocated bytes as a share of the card."""
        return self.allocated / self.total if self.allocated is not None and self.total else None

    @property
    def scattered(self) -> int | None:
        """Bytes that are reserved but not allocated."""
        return None if self.reserved is None or self.allocated is None else self.reserved - self.allocated

    @property
    def complete(self) -> bool:
        """Whether the arithmetic can be done."""
        return self.outside is not None and self.used_share is not None

    @property
    def cause(self) -> Cause:
        """What the numbers decide for, in the order in which one explains the next."""
        if self.form is Form.WORKSPACE:
            return Cause.WORKSPACE
        if self.form is Form.FRACTION or self._limited():
            return Cause.FRACTION
        if self.outside is None or self.used_share is None or self.form is not Form.TORCH:
            return Cause.UNDECIDED
        if self.outside > MUCH_OUTSIDE:
            return Cause.OTHER_PROCESS
        if self.used_share > FULL:
            return Cause.SHORTAGE
        return Cause.FRAGMENTATION if self._in_pieces() else Cause.UNDECIDED

    def _limited(self) -> bool:
        if self.allowed is None or self.wanted is None or self.free is None:
            return False
        held = max(self.reserved or 0, self.allocated or 0)
        return held + self.wanted > self.allowed and self.free > self.wanted

    def _in_pieces(self) -> bool:
        if self.scattered is None or self.wanted is None or not self.reserved:
            return False
        roomy = self.free is not None and self.free > self.wanted  # then the driver refused, not the pool
        return self.scattered >= self.wanted and self.scattered / self.reserved > SCATTERED and not roomy

    @property
    def very_scattered(self) -> bool:
        """Whether so much is reserved in vain that fragmentation is likely."""
        return bool(self.reserved and self.scattered is not None and self.scattered / self.reserved > VERY_SCATTERED)


@dataclass(frozen=True)
class Seen:
    """A message and where it stood; `matches` are all lines of its kind."""

    oom: NpuOom
    match: Match
    matches: tuple[Match, ...]

    def evidence(self) -> tuple[Evidence, ...]:
        first = Evidence(self.match.source, self.match.text[:400], self.match.line)
        return (first,) if len(self.matches) == 1 else (first, evidence_of(self.matches))


_SIZE = r"(\d{1,15}(?:\.\d{1,6})?)\s{0,3}(bytes|[KMGT]i?B)"
_UNITS = {"b": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_FIELDS = {
    "wanted": regex(rf"[Tt]ried to allocate\s{{0,3}}{_SIZE}"),
    "total": regex(rf"{_SIZE}\s{{0,3}}total\b|total capacity of\s{{0,3}}{_SIZE}"),
    "allocated": regex(rf"{_SIZE}\s{{0,3}}already\s{{0,2}}allocated|{_SIZE}\s{{0,3}}is allocated by PyTorch"),
    "active": regex(rf"{_SIZE}\s{{0,3}}current\s{{0,2}}active"),
    "free": regex(rf"{_SIZE}\s{{0,3}}(?:is )?free\b"),
    "allowed": regex(rf"{_SIZE}\s{{0,3}}allowed\b"),
    "reserved": regex(rf"{_SIZE}\s{{0,3}}reserved\s{{0,2}}in\s{{0,2}}total"),
}
_UNALLOCATED = regex(rf"{_SIZE}\s{{0,3}}is reserved by PyTorch but unallocated")
_DEVICE = regex(r"\(\s?NPU\s{1,3}(\d{1,4})\b|device id:? {0,2}(\d{1,4})\b|\bNPU (\d{1,4}) has a total")
_RAISED = regex(r"Error\W|ERR\d{5}|Exception\W|NPU out of memory\.? ?(?:Tried|NPUWork|device id|Allocation)|^\W{0,3}NPU out of memory\b")


def parse(text: str) -> NpuOom | None:
    """The message in the text (a line, or a cut line with those behind it); None if there is none."""
    if "NPU out of memory" not in text and "Tried to allocate" not in text:
        return None
    sizes = {name: _size(pattern.search(text)) for name, pattern in _FIELDS.items()}
    unallocated = _size(_UNALLOCATED.search(text))
    if sizes["reserved"] is None and unallocated is not None and sizes["allocated"] is not None:
        sizes["reserved"] = sizes["allocated"] + unallocated
    found = _DEVICE.search(text)
    device = next((group for group in found.groups() if group), None) if found else None
    return NpuOom(_form(text, sizes["wanted"]), device, **sizes)


def _form(text: str, wanted: int | None) -> Form:
    if "NPUWorkspaceAllocator" in text:
        return Form.WORKSPACE
    if "per_process_memory_fraction" in text:
        return Form.FRACTION
    if "more than 1EB" in text:
        return Form.ABSURD
    if "NPU out of memory. device id" in text:
        return Form.MODEL
    return Form.TORCH if wanted is not None else Form.MENTION


def _size(found: re.Match[str] | None) -> int | None:
    if found is None:
        return None
    number, unit = [group for group in found.groups() if group]
    return int(float(number) * _UNITS[unit[0]])


def seen(matches: Matches) -> Seen | None:
    """The message that decides: the first whole one of the report, else the first raised, else None.

    Needs the patterns `oom` (the message) and `numbers` (lines that may carry its rest). Raises Skip where there is no log.
    """
    if not matches.looked:
        raise Skip("no log was given")
    lines = matches["oom"]
    rest = matches["numbers"]
    raised: Seen | None = None
    for match in lines:
        oom = parse(match.text)
        if oom is not None and not oom.complete and oom.form in (Form.TORCH, Form.MENTION):
            oom = parse(_whole(match, rest))
        if oom is None:
            continue
        if oom.complete or oom.form not in (Form.TORCH, Form.MENTION):
            return Seen(oom, match, lines)
        if raised is None and _RAISED.search(match.text):
            raised = Seen(oom, match, lines)
    return raised


def _whole(match: Match, rest: tuple[Match, ...]) -> str:
    """The text of a cut message with the lines behind it that carry its numbers; glued, since a break may fall into a word or a number."""
    behind = (line.text for line in rest if match.ordinal < line.ordinal <= match.ordinal + _CONTINUED)
    return match.text + "".join(behind)


_ADVICE = regex(
    r"[?？]\s*$|\b(?:if|when|in case|to|avoid|prevent|avoids|prevents|may|might|can|could|cause|causes|for|why|without)\b.{0,60}(?:NPU )?(?:out of memory|OOM)|(?:如果|若|避免|防止|可能|容易|会不会|以免|当).{0,30}(?:显存|NPU|OOM)",
    re.IGNORECASE | re.ASCII,
)


def is_advice(text: str) -> bool:
    """Whether a sentence speaks of memory running out in general, and does not report it."""
    if "max_split_size_mb" in text:  # the end of the message, or the comment of a tutorial's script
        return "allocated memory" not in text and (text.lstrip().startswith("#") or "export " in text)
    return bool(_ADVICE.search(text))


def too_high(found: Seen, commands: ServeCommands | None, loaded: tuple[Match, ...]) -> float | None:
    """The utilization, if the message came after the pools were made, with a utilization above the default, and nothing else decides."""
    started = any(match.ordinal < found.match.ordinal for match in loaded)
    high = max((value for value in utilizations(commands) if value > HIGH_UTILIZATION), default=None)
    return high if started and found.oom.complete and found.oom.cause in (Cause.SHORTAGE, Cause.UNDECIDED) else None


def shown(size: int | None) -> str:
    """Bytes for people."""
    if size is None:
        return "?"
    return f"{size / GIB:.2f} GiB" if abs(size) >= GIB else f"{size / 2**20:.1f} MiB"


def hit(found: Seen, said: str, confidence: Confidence = Confidence.SURE, severity: Severity | None = None, wanted: str = "") -> Hit:
    """The finding of a message, with the values that its words use."""
    oom = found.oom
    values = {"device": oom.device or "", "size": shown(oom.wanted) if oom.wanted is not None else ""}
    if oom.total and oom.outside is not None:
        values["share"] = f"{max(0.0, 1 - oom.outside / oom.total - 0.05):.2f}"
    return Hit(
        found=said,
        wanted=wanted,
        evidence=found.evidence(),
        confidence=confidence,
        severity=severity,
        values={name: value for name, value in values.items() if value},
        basis=Basis.LOG,
        position=found.match.ordinal + 1,
    )


def shared_card(npus: Npus | None, device: str | None) -> tuple[str, ...]:
    """The entries of npu-smi's process table on that chip, if there are several jobs on it; () otherwise or if not known."""
    if npus is None or device is None or not npus.complete:
        return ()
    chips = sorted((chip.npu_id, chip.chip_id or 0) for chip in npus.chips)
    index = int(device)
    if index >= len(chips):
        return ()
    on_it = [p for p in npus.processes if (p.npu_id, p.chip_id or 0) == chips[index] and (p.memory_mb or 0) >= OWN_ENTRY_MB]
    return tuple(f"pid {p.pid} {p.name} {p.memory_mb} MB" for p in on_it) if len(on_it) > 1 else ()


def utilizations(commands: ServeCommands | None) -> Iterator[float]:
    """Every --gpu-memory-utilization that is given."""
    for command in commands.commands if commands is not None else ():
        for value in (command.flags.get("gpu-memory-utilization"), command.keywords.get("gpu_memory_utilization")):
            try:
                number = float(value) if value else -1.0
            except ValueError:
                continue
            if 0 < number <= 1:
                yield number
