"""Asks `npu-smi` for the board, health and ECC of each NPU, within a bound on calls and on time."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.facts import Facts
from doctor.facts.ask import ran
from doctor.facts.npu_smi import MappedChip, parse_ecc, parse_fields, parse_health, parse_mapping
from doctor.facts.npu_types import NpuDetail, Npus
from doctor.host import Host, Unavailable, Why

MOST_NPUS = 16
"""NPUs asked for detail; no server has more, a garbled table may."""
BUDGET = 60.0
"""Seconds for all detail queries together; each takes 0.3 to 1."""
_CALL_TIMEOUT = 10.0


class _Questions:
    """Asks npu-smi until the time is spent or one question was not answered in time: the driver would not answer the next either."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._spent = 0.0
        self._hopeless = False
        self.refused: Unavailable | None = None
        self.answered = False

    def ask(self, *words: str) -> str | None:
        if self._spent >= BUDGET or self._hopeless:
            return None
        output = ran(self._host, ["npu-smi", "info", *words], _CALL_TIMEOUT)
        if isinstance(output, Unavailable):
            self.refused = self.refused or output
            self._hopeless = output.why in (Why.TIMED_OUT, Why.MISSING)
            return None
        self._spent += output.seconds
        self.answered = self.answered or output.exit == 0
        return output.stdout if output.exit == 0 else None


def read_npu_detail(host: Host, facts: Facts) -> NpuDetail | Unavailable:
    npus = facts.get(Npus)
    if isinstance(npus, Unavailable):
        return npus
    chips: dict[int, list[int]] = {}
    for chip in npus.chips:
        chips.setdefault(chip.npu_id, []).append(chip.chip_id or 0)
    ids = sorted(chips)[:MOST_NPUS]
    if not ids:
        return Unavailable("npu-smi info -t board", Why.MISSING, "no NPU to ask about")
    questions = _Questions(host)
    mapping = questions.ask("-m")
    boards = {npu: parse_fields(text) for npu in ids if (text := questions.ask("-t", "board", "-i", str(npu))) is not None}
    health = _health(questions, npus.layout, {npu: chips[npu] for npu in ids})
    ecc = {npu: parse_ecc(text) for npu in ids if (text := questions.ask("-t", "ecc", "-i", str(npu))) is not None}
    soc = known_soc(parse_fields(questions.ask("-t", "board", "-i", str(ids[0]), "-c", "0") or ""))
    if not questions.answered and questions.refused is not None:
        return questions.refused
    return NpuDetail(
        firmware=_field(boards, "Firmware Version"),
        compatibility=_field(boards, "Compatibility"),
        fault_codes=health,
        ecc={(npu, chip): counters for npu, by_chip in ecc.items() for chip, counters in by_chip.items()},
        soc_names={ids[0]: soc} if soc else {},
        logical_ids=logical_ids(parse_mapping(mapping or "")),
    )


def _health(questions: _Questions, layout: str, chips: Mapping[int, list[int]]) -> dict[tuple[int, int], tuple[str, ...]]:
    """Fault codes by chip, () where there is none. The products of 950 know no chips and take no -c."""
    found: dict[tuple[int, int], tuple[str, ...]] = {}
    for npu, of_npu in chips.items():
        for chip in of_npu:
            words = ["-t", "health", "-i", str(npu)] + ([] if layout == "950" else ["-c", str(chip)])
            answer = parse_health(questions.ask(*words) or "")
            if answer is not None:
                found[(npu, chip)] = answer.codes
    return found


def _field(boards: Mapping[int, Mapping[str, str]], name: str) -> dict[int, str]:
    told = {npu: fields.get(name, "") for npu, fields in boards.items()}
    return {npu: value for npu, value in told.items() if value and value not in ("NA", "-")}


def known_soc(fields: Mapping[str, str]) -> str | None:
    """ "Chip Name" of a board query for one chip ("910B3"); with "NPU Name" where it is told, as builds name A3: "Ascend910_9392"."""
    name, number = (fields.get(key, "").replace("NA", "") for key in ("Chip Name", "NPU Name"))
    return (f"{name}_{number}" if number else name) if name else None


def logical_ids(rows: tuple[MappedChip, ...]) -> tuple[int, ...] | None:
    """Logical ids of the chips; on 950, which prints none, the physical ones. None if none is told."""
    ids = [row.logical_id if row.logical_id is not None else row.phy_id for row in rows if row.npu_id >= 0]
    told = tuple(sorted(number for number in ids if number is not None))
    return told or None


__all__ = ["BUDGET", "MOST_NPUS", "known_soc", "logical_ids", "read_npu_detail"]
