"""NPU fault codes: which chip or log line reports which, and how the vendor's table grades them. Shared by the rules of this folder."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from doctor.errorcodes import CodeEntry, explain
from doctor.facts.npu import NpuDetail
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches
from doctor.record import dataclass
from doctor.regex import regex

WORST_FIRST = (
    "L6 SeparateNPU", "L5 RestartNPU", "PreSeparateNPU", "L4 FreeRestartNPU", "L3 RestartBusiness", "L2 RestartRequest", "SubHealth",
    "L1 NotHandle",
)  # fmt: skip
"""Handling levels of MindCluster's faultCode.json. The level of a chip is that of its worst code."""

_TOKEN = regex(r"(?<![0-9A-Za-z])(?:0[xX])?([0-9A-Fa-f]{8})(?![0-9A-Za-z])")
_OVER = regex(r"(?i)recover|resum|restor|clear|histor|恢复|历史|清除")
"""A line that tells of the end of a fault, or of an old one."""


@dataclass(frozen=True)
class Faults:
    """The codes that one chip reports, or that a log shows (`subject` is empty then)."""

    subject: str
    codes: tuple[str, ...]
    evidence: Evidence
    basis: Basis
    position: int = 0
    npu: str = ""
    chip: str = ""


def chip_name(npu: int, chip: int, chips: Collection[tuple[int, int]]) -> str:
    """ "NPU 3", or "NPU 3 chip 1" where that NPU has several chips."""
    several = sum(1 for number, _ in chips if number == npu) > 1
    return f"NPU {npu} chip {chip}" if several else f"NPU {npu}"


def reported(detail: NpuDetail | None, matches: Matches) -> Iterator[Faults]:
    """Every chip with codes, then what the log shows. Raises `Skip` where neither could be looked at."""
    if detail is None and not matches.looked:
        raise Skip("npu-smi info -t health is not known, and no log was given")
    for (npu, chip), codes in (detail.fault_codes if detail else {}).items():
        if codes:
            source = f"npu-smi info -t health -i {npu} -c {chip}"
            name = chip_name(npu, chip, detail.fault_codes if detail else ())
            yield Faults(name, codes, Evidence(source, f"Error Code : {' '.join(codes)}"), Basis.FACTS, 0, str(npu), str(chip))
    lines = [(match, codes) for match in matches["codes"] if (codes := _in_line(match.text))]
    if lines:
        first = lines[0][0]
        seen = dict.fromkeys(code for _, codes in lines for code in codes)
        evidence = Evidence(first.source, first.text[:400], first.line, first.line, lines[-1][0].line, len(lines))
        yield Faults("", tuple(seen), evidence, Basis.LOG, first.ordinal + 1)


def _in_line(text: str) -> tuple[str, ...]:
    if _OVER.search(text):
        return ()
    return tuple(code for token in _TOKEN.findall(text[:4000]) if entry(code := token.upper()) is not None)


def entry(code: str) -> CodeEntry | None:
    """What the table says of an NPU fault code that has a handling level; None for any other."""
    return next((found for found in explain(code) if found.family == "npu" and found.level), None)


def at_level(level: str, detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    """A hit for each chip (or log) whose worst code has this handling level."""
    for faults in reported(detail, matches):
        grades = {code: found.level for code in faults.codes if (found := entry(code)) is not None}
        worst = min(grades.values(), key=WORST_FIRST.index, default="")
        if worst == level:
            yield _hit(faults, [code for code, grade in grades.items() if grade == level])


def with_codes(wanted: Collection[str], detail: NpuDetail | None, matches: Matches) -> Iterator[Hit]:
    """A hit for each chip (or log) that shows one of these codes."""
    for faults in reported(detail, matches):
        codes = [code for code in faults.codes if code in wanted]
        if codes:
            yield _hit(faults, codes)


def _hit(faults: Faults, codes: list[str]) -> Hit:
    found = entry(codes[0])
    told = f"{' '.join(codes)}: {found.meaning.en}" if found else " ".join(codes)
    others = [code for code in faults.codes if code not in codes]
    values = {"code": codes[0], "codes": " ".join(codes), "meaning": found.meaning.en if found else ""}
    if faults.npu:
        values |= {"id": faults.npu, "chip_id": faults.chip}
    return Hit(
        subject=faults.subject,
        found=told + (f" (also {' '.join(others)})" if others else ""),
        wanted="no fault code",
        evidence=(faults.evidence,),
        # A log tells when, not whether it still holds; and a code may only be talked about.
        confidence=Confidence.LIKELY if faults.basis is Basis.LOG else Confidence.SURE,
        values=values,
        basis=faults.basis,
        position=faults.position,
    )
