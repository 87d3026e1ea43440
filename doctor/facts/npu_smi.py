"""What `npu-smi` prints: the main table in its four layouts, the detail queries, and why it failed. Pure functions of any text.

Tables are read by their cells, never by offsets: columns moved between releases, and pasted text loses blanks, quotes
lines with "> " and often consists of a few rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from doctor.facts.npu_types import Npu, NpuProcess, Npus
from doctor.facts.number import decimal, hexadecimal, whole
from doctor.record import dataclass
from doctor.regex import regex

_QUOTE = regex(r"^[\s>]*")
_HEADER = regex(r"\bnpu-smi\s+(v?[0-9][\w.+-]*)\s+Version:\s*([\w.+-]+)", re.ASCII)
_ID_AND_NAME = regex(r"([0-9]{1,4})\s+(\S.*)", re.ASCII)
_ID_AND_DEVICE = regex(r"([0-9]{1,4})(?:\s+([0-9]{1,4}))?", re.ASCII)
_NAME = regex(r"(?:Ascend\s*)?(?:310|910|950|93)[\w. -]{0,24}", re.ASCII | re.IGNORECASE)
_BUS = regex(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|NA|-", re.ASCII)
_PAIR = regex(r"(\d{1,12}|NA|-)\s{0,12}/\s{0,12}(\d{1,12}|NA|-)", re.ASCII)
_HEALTHS = {"ok": "OK", "warning": "Warning", "alarm": "Alarm", "critical": "Critical", "unknown": "UNKNOWN", "na": "NA"}
_LONGEST_LINE = 1000
"""Characters; a row has about 110."""


@dataclass(frozen=True)
class MappedChip:
    """One row of `npu-smi info -m`; ids are None where a cell is "-" (a management chip) or the column is not printed."""

    npu_id: int
    chip_id: int | None
    logical_id: int | None
    phy_id: int | None
    name: str


@dataclass(frozen=True)
class Health:
    """Answer of `-t health`: status as printed, and its upper-case fault codes without 0x."""

    status: str
    codes: tuple[str, ...] = ()
    information: str = ""


def parse_npu_smi(text: str, source: str = "npu-smi info", line: int = 0) -> Npus | None:
    """The table of `npu-smi info`, or whatever rows of one a text holds; None if there is no trace of one.

    `line` is the number that the text's first line has in the whole (0: not in a longer text); the result carries that
    of the first line that belongs to the table.
    """
    reader = _Reader()
    first: int | None = None
    for offset, raw in enumerate(text.splitlines()):
        if reader.take(raw[:_LONGEST_LINE]) and first is None:
            first = offset
    if first is None:
        return None
    chips = tuple(reader.finished())
    return Npus(
        chips=chips, processes=tuple(reader.processes), smi_version=reader.smi_version, driver_version=reader.driver_version,
        layout=reader.layout or _layout_by_name(chips), source=source, line=line + first if line else 0,
    )  # fmt: skip


class _Reader:
    """Takes the lines of a table one by one. A chip's first row waits for its second, which a fragment may lack."""

    def __init__(self) -> None:
        self.chips: list[Npu] = []
        self.processes: list[NpuProcess] = []
        self.smi_version: str | None = None
        self.driver_version: str | None = None
        self.layout = ""
        self._waiting: Npu | None = None

    def take(self, raw: str) -> bool:
        """Whether the line belongs to a table of npu-smi."""
        text = _QUOTE.sub("", raw).rstrip()
        header = _HEADER.search(text)
        if header:
            self.smi_version, self.driver_version = header[1], header[2]
            return True
        if not text.startswith("|"):
            return False
        cells = [cell.strip() for cell in text[1:].removesuffix("|").split("|")]
        return self._heading(text) or self._first_row(cells) or self._second_row(cells) or self._process(cells)

    def finished(self) -> list[Npu]:
        self._flush()
        return self.chips

    def _flush(self) -> None:
        if self._waiting is not None:
            self.chips.append(self._waiting)
            self._waiting = None

    def _heading(self, text: str) -> bool:
        words = " ".join(text.replace("|", " | ").split())
        if words.startswith("| NPU ID | Name"):
            self.layout = "950"
        elif words.startswith("| Chip Phy-ID |"):
            self.layout = "a3"
        elif words.startswith("| Chip Device |"):
            self.layout = "310p"
        elif words.startswith("| Chip |"):
            self.layout = "hbm"
        else:
            return words.startswith("| NPU ") and ("Name" in words or "Process id" in words)
        return True

    def _first_row(self, cells: list[str]) -> bool:
        """NPU id and name (one cell, two on 950), health, and power, temperature and huge pages."""
        if len(cells) == 4:
            npu_id, name = whole(cells[0]), cells[1]
        elif len(cells) == 3 and (match := _ID_AND_NAME.fullmatch(cells[0])):
            npu_id, name = whole(match[1]), match[2]
        else:
            return False
        health = _HEALTHS.get(cells[-2].lower())
        before, pairs = _measures(cells[-1])
        if npu_id is None or npu_id < 0 or health is None or len(before) != 2 or not _NAME.fullmatch(name):
            return False
        self._flush()
        if len(cells) == 4:
            self.layout = "950"
        self._waiting = Npu(
            npu_id, None, name, health=None if health == "NA" else health, power_w=decimal(before[0]),
            temperature_c=decimal(before[1]), hugepages_total=whole(pairs[0][1]) if pairs else None,
        )  # fmt: skip
        return True

    def _second_row(self, cells: list[str]) -> bool:
        """Chip id (and device id), bus id, and load and memory; on 950 two empty cells stand first."""
        chip = device = None
        wide = len(cells) == 4 and not cells[0] and not cells[1]
        if wide:
            pass
        elif len(cells) == 3 and (match := _ID_AND_DEVICE.fullmatch(cells[0])):
            chip, device = whole(match[1]), whole(match[2])
        else:
            return False
        before, pairs = _measures(cells[-1])
        if not _BUS.fullmatch(cells[-2]) or len(before) != 1 or not pairs:
            return False
        if self._waiting is None:
            return False
        if wide:
            self.layout = "950"
        elif not self.layout:
            self.layout = "310p" if len(pairs) == 1 else "hbm" if device is None else "a3"
        hbm = pairs[1] if len(pairs) > 1 else ("", "")
        self._waiting = replace(
            self._waiting, chip_id=chip, phy_id=device, bus_id=None if cells[-2] in ("NA", "-") else cells[-2],
            aicore_percent=decimal(before[0]), ddr_used_mb=whole(pairs[0][0]), ddr_total_mb=whole(pairs[0][1]),
            hbm_used_mb=whole(hbm[0]), hbm_total_mb=whole(hbm[1]),
        )  # fmt: skip
        self._flush()
        return True

    def _process(self, cells: list[str]) -> bool:
        if len(cells) == 1:
            return cells[0].startswith("No running processes found in NPU")
        if len(cells) < 4 or not (match := _ID_AND_DEVICE.fullmatch(cells[0])):
            return False
        npu_id, pid = whole(match[1]), whole(cells[1])
        # Newer builds add the pid inside the container as a fifth cell; a process name may itself hold a bar.
        extra = len(cells) == 5 and whole(cells[3]) is not None
        name, memory = (cells[2], cells[3]) if extra else ("|".join(cells[2:-1]), cells[-1])
        if npu_id is None or pid is None or not (whole(memory) is not None or memory in ("NA", "-", "")):
            return False
        self.processes.append(NpuProcess(npu_id, whole(match[2]), pid, name.strip(), whole(memory)))
        return True


def _measures(cell: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Words before the first "used / total", and every such pair."""
    matches = list(_PAIR.finditer(cell))
    before = cell[: matches[0].start()] if matches else cell
    words = before.split()
    known = len(words) <= 2 and all(decimal(word) is not None or word in ("NA", "-") for word in words)
    return (words if known else [], [(match[1], match[2]) for match in matches])


def _layout_by_name(chips: tuple[Npu, ...]) -> str:
    name = chips[0].name.lower().replace(" ", "") if chips else ""
    if name.startswith(("310", "ascend310")):
        return "310p"
    if name.startswith(("950", "ascend950")):
        return "950"
    return "a3" if name == "ascend910" else "hbm"


def parse_fields(text: str) -> dict[str, str]:
    """`Key : value` lines of `-t board` (or `-t common`): the first of a key wins; more lines of a value are joined with a blank."""
    fields: dict[str, str] = {}
    key = ""
    for raw in text.splitlines():
        left, colon, right = raw[:_LONGEST_LINE].partition(":")
        if not colon:
            continue
        if left.strip():
            key = "" if left.strip() in fields else left.strip()
            if key:
                fields[key] = right.strip()
        elif key:
            fields[key] = f"{fields[key]} {right.strip()}".strip()
    return fields


def parse_card_list(text: str) -> dict[int, int | None]:
    """`npu-smi info -l`: NPU id -> how many chips it has."""
    cards: dict[int, int | None] = {}
    current: int | None = None
    for raw in text.splitlines():
        key, _, value = raw[:_LONGEST_LINE].partition(":")
        if key.strip() == "NPU ID":
            current = whole(value)
            if current is not None:
                cards[current] = None
        elif key.strip() in ("Chip Count", "Card Count") and current is not None:
            cards[current] = whole(value)
    return cards


_MAP_COLUMNS = ("NPU ID", "Slot ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name")


def parse_mapping(text: str) -> tuple[MappedChip, ...]:
    """`npu-smi info -m`; which columns there are depends on the product, so the heading decides."""
    columns: list[str] = []
    rows: list[MappedChip] = []
    for raw in text.splitlines():
        line = raw[:_LONGEST_LINE].strip()
        titles = [title.strip() for title in re.split(r"\s{2,}|\t", line) if title.strip()]
        if titles[:1] == ["NPU ID"]:
            columns = titles if all(title in _MAP_COLUMNS for title in titles) else []
            continue
        words = line.split(None, len(columns) - 1) if columns else []
        if len(words) != len(columns) or not columns:
            continue
        row = dict(zip(columns, words, strict=True))
        npu_id = whole(row.get("NPU ID"))
        if npu_id is not None:
            chip, logical, phy = (whole(row.get(title)) for title in ("Chip ID", "Chip Logic ID", "Chip Phy-ID"))
            rows.append(MappedChip(npu_id, chip, logical, phy, row.get("Chip Name", "")))
    return tuple(rows)


def parse_health(text: str) -> Health | None:
    """`-t health`; None where no health is told. Codes are eight hex digits, with or without 0x."""
    fields = parse_fields(text)
    status = fields.get("Health Status") or fields.get("Health")
    if not status:
        return None
    codes = re.findall(r"(?<![0-9A-Za-z])(?:0[xX])?([0-9A-Fa-f]{8})(?![0-9A-Za-z])", fields.get("Error Code", ""))
    return Health(status, tuple(code.upper() for code in codes), "" if (told := fields.get("Error Information", "")) == "NA" else told)


def parse_chip_blocks(text: str) -> tuple[tuple[int, Mapping[str, str]], ...]:
    """(chip id, fields) of an answer that repeats itself for every chip: `-t usages`, `-t common`, `-t ecc`.

    The chip's id is printed after its fields, by some products before them; both are understood. Without any, it is 0.
    """
    blocks: list[tuple[int, Mapping[str, str]]] = []
    current: int | None = None
    pending: dict[str, str] = {}
    for raw in text.splitlines():
        key, colon, value = (part.strip() for part in raw[:_LONGEST_LINE].partition(":"))
        if key == "Chip ID" and colon:
            if pending:
                blocks.append((_chip(current, value), pending))
                pending, current = {}, None if current is None else whole(value)
            else:
                current = whole(value)
        elif colon and key and key not in ("NPU ID", "Chip Count"):
            pending[key] = value
    if pending:
        blocks.append((_chip(current, "0"), pending))
    return tuple(blocks)


def _chip(before: int | None, after: str) -> int:
    return before if before is not None else whole(after) or 0


def parse_ecc(text: str) -> dict[int, dict[str, int]]:
    """`-t ecc`: chip id -> counter by its printed name; counters that are NA are left out."""
    return {
        chip: counters
        for chip, fields in parse_chip_blocks(text)
        if (counters := {name: number for name, value in fields.items() if (number := whole(value)) is not None})
    }


def parse_usages(text: str) -> dict[int, dict[str, float]]:
    """`-t usages` and `-t common`: chip id -> figure by its printed name ("HBM Usage Rate(%)")."""
    return {
        chip: {name: number for name, value in fields.items() if (number := decimal(value)) is not None}
        for chip, fields in parse_chip_blocks(text)
    }


_FAILURES = (
    ("missing libraries", r"error while loading shared libraries|cannot open shared object file"),
    ("no card", r"There is no NPU card on this server"),
    ("wrong id", r"Invalid card id|Error parameter of -i"),
    ("driver not reachable", r"DrvMngGetConsoleLogLevel failed|g_conLogLevel=3"),
    ("no permission", r"(?i)permission denied|operation not permitted"),
    ("board query", r"get board type failed"),
    ("not found", r"(?i)command not found|no such file or directory"),
)
_DCMI = regex(r"ret is (-?[0-9]{1,6})\b", re.ASCII)


def classify_failure(text: str, exit: int) -> str:
    """One word for why npu-smi failed: "dcmi -8005", "missing libraries", …; "" if it did not, "other" if nothing is recognised."""
    dcmi = _DCMI.search(text) if re.search(r"(?i)dcmi mod(?:ul|el)", text) else None
    if dcmi:
        return f"dcmi {dcmi[1]}"
    found = next((name for name, pattern in _FAILURES if re.search(pattern, text)), "")
    return found or ("other" if exit != 0 else "")


def pci_device(text: str) -> str | None:
    """ "0xD802" of `-t board` as "d802"."""
    number = hexadecimal(text)
    return None if number is None else f"{number:04x}"


def chips_per_npu(npus: Npus) -> int:
    """The most chips that one NPU of the table has; a table in the A3 layout has two even where only one row was pasted."""
    most = max(Counter(chip.npu_id for chip in npus.chips).values(), default=0)
    return max(most, 2) if npus.layout == "a3" else most
