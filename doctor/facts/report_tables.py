"""Tables in a text: npu-smi's, Markdown's with versions, `df`, `free`; and single answers under a command (`uname -r`, `cat /proc/sys/…`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.kernel import parse_transparent_huge_pages
from doctor.facts.machine import Disk, Memory, parse_df, parse_glibc
from doctor.facts.npu import Npus, chip_from_npus
from doctor.facts.npu_smi import parse_npu_smi
from doctor.facts.number import size, whole
from doctor.facts.report_blocks import SYSCTL
from doctor.facts.report_keyed import tell_cell
from doctor.facts.report_prose import KINDS, plausible
from doctor.facts.report_text import Sightings, Strength, Text, bare, first_version
from doctor.regex import regex

_WIDE_ROW = regex(r"\|[\s:|-]{3,400}\|?$")
_DF_HEADING = regex(r"(?:filesystem|文件系统)\s.{0,80}(?:mounted on|挂载点)", re.IGNORECASE)
_DF_ROWS = 400
_BLOCKS = {"1k-blocks": 1, "1024-blocks": 1, "1k-块": 1, "1m-blocks": 1024, "1g-blocks": 1 << 20}
_FREE_ROW = regex(r"(mem|swap|内存|交换)[:：]\s{1,20}([\d.]{1,16}[kmgtp]?i?b?)\s{1,20}([\d.]{1,16}[kmgtp]?i?b?)\s{1,20}([\d.]{1,16}[kmgtp]?i?b?)(.{0,80})", re.IGNORECASE)
_FREE_UNITS = {"-k": 1 << 10, "-m": 1 << 20, "-g": 1 << 30, "-b": 1}
_UNAME = regex(r"Linux \S{1,80} (\d\S{2,120}) .{1,200}? (aarch64|x86_64)\b")
_KERNEL = regex(r"\d{1,2}\.\d{1,3}[\w.+-]{0,100}")
_BANNER = regex(r"Linux version (\d[\w.+-]{2,100})")
_SYSCTL_FILE = regex(r"/proc/sys/((?:vm|kernel|net|fs)/[\w/]{1,80})(?::\s{0,3}(\d{1,19}))?\s*$")


def tell_tables(text: Text, told: Sightings) -> None:
    for start, end in _bars(text):
        _tell_table(text, told, start, end)
    for at in text.having("filesystem", "文件系统"):
        if _DF_HEADING.search(text.lines[at]):
            _tell_disks(text, told, at)
    _tell_free(text, told)
    _tell_answers(text, told)


def _bars(text: Text) -> Iterator[tuple[int, int]]:
    """Stretches of lines that are rows or rules of a table. A row that the terminal broke has its rest on the next line."""
    start: int | None = None
    broken = False
    for at, line in enumerate(text.lines):
        stripped = line.strip()
        is_bar = stripped[:1] in ("|", "+") and len(stripped) > 1
        if is_bar or (broken and start is not None and stripped.endswith(("|", "+"))):
            start = at if start is None else start
        elif start is not None:
            yield start, at
            start = None
        broken = is_bar and not stripped.endswith(("|", "+"))
    if start is not None:
        yield start, len(text.lines)


def _tell_table(text: Text, told: Sightings, start: int, end: int) -> None:
    lines = [text.lines[at].strip() for at in range(start, end)]
    joined = _mended(lines)
    source, number = text.place(start)
    npus = parse_npu_smi("\n".join(joined), source, number)
    if npus is None:
        if any(KINDS_IN_TABLE.search(line) for line in lines):
            _tell_markdown(text, told, start, end)
        return
    if npus.driver_version and plausible("driver", npus.driver_version):
        told.tell("driver", npus.driver_version, Strength.OUTPUT, start)
    if npus.chips:
        whole_table = _whole(npus, joined)
        told.tell("npus", str(len(npus.chips)), Strength.OUTPUT if whole_table else Strength.LOG, start, replace(npus, complete=whole_table))
        chip = chip_from_npus(npus)
        if chip is not None:
            told.tell("chip", chip.name, Strength.OUTPUT, start, chip.family)


def _whole(npus: Npus, lines: list[str]) -> bool:
    """Whether the table was pasted as npu-smi prints it: with its first line, both rows of each chip, and the processes below."""
    return npus.smi_version is not None and all(chip.ddr_total_mb is not None for chip in npus.chips) and any("Process id" in line for line in lines)


def _mended(lines: list[str]) -> list[str]:
    """Rows that a narrow terminal broke are joined again."""
    joined: list[str] = []
    for line in lines:
        if joined and line[:1] not in ("|", "+") and joined[-1].startswith("|"):
            joined[-1] += " " + line
        else:
            joined.append(line)
    return joined


KINDS_IN_TABLE = regex(r"cann|driver|hdk|vllm|torch|python|firmware|nnal|驱动|固件|chip|npu|os\b|系统|芯片|硬件|hardware", re.IGNORECASE)


def _tell_markdown(text: Text, told: Sightings, start: int, end: int) -> None:
    """`| CANN | 8.0.RC2 |`, and a heading of products over one row of versions. More rows are a matrix, and say nothing of this machine."""
    rows = [(at, cells) for at in range(start, end) if not _WIDE_ROW.match(text.lines[at].strip()) and (cells := _cells(text.lines[at]))]
    if rows and len(rows[0][1]) > 2 and sum(1 for cell in rows[0][1] if cell.lower() in KINDS) > 1:
        if len(rows) == 2:
            at, cells = rows[1]
            for key, value in zip(rows[0][1], cells):  # noqa: B905 -- a ragged row is cut
                tell_cell(told, at, key, value)
        return
    for at, cells in rows[:200]:
        versions = {version.lower() for cell in cells[1:] if (version := first_version(cell))}
        if len(cells) == 2 or (len(cells) > 2 and len(versions) == 1):
            value = next((cell for cell in cells[1:] if first_version(cell)), cells[1])
            tell_cell(told, at, cells[0], value)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")[:40]]


def _tell_disks(text: Text, told: Sightings, heading: int) -> None:
    rows: list[str] = []
    for at in range(heading + 1, min(heading + _DF_ROWS, len(text.lines))):
        line = text.lines[at].strip()
        if rows and len(rows[-1].split()) == 1:
            rows[-1] += " " + line  # a long device name stands on a line of its own
        elif line.startswith("/") or (len(line.split()) >= 5 and "%" in line) or (line and " " not in line):
            rows.append(line)
        else:
            break
    factor = next((value for name, value in _BLOCKS.items() if name in text.lines[heading].lower()), None)
    disks = [disk for row in rows if (disk := _disk(row, factor))]
    for disk in disks:
        told.tell(f"disk:{disk.mount}", disk.mount, Strength.OUTPUT, heading, disk)


def _disk(row: str, factor: int | None) -> Disk | None:
    """One row of `df`; `factor` is KiB a block, None where sizes carry their unit (-h)."""
    words = row.split()
    if factor is not None:
        found = parse_df(row)
        return Disk(found[0].mount, found[0].filesystem, found[0].size * factor, found[0].available * factor) if found else None
    for at in range(1, len(words) - 4):
        total, free = size(words[at]), size(words[at + 2])
        if total is not None and free is not None and words[at + 3].endswith(("%", "-")) and words[at + 4].startswith("/"):
            return Disk(" ".join(words[at + 4 :]), " ".join(words[:at]), total, free)
    return None


def _tell_free(text: Text, told: Sightings) -> None:
    """`free`, whose unit is KiB unless the command above or a suffix says otherwise."""
    found: dict[str, tuple[int, re.Match[str]]] = {}
    for at in text.having("mem:", "swap:", "内存：", "交换："):
        row = _FREE_ROW.match(text.lines[at].strip())
        if row:
            found.setdefault("swap" if row[1].lower() in ("swap", "交换") else "mem", (at, row))
    if "mem" not in found:
        return
    at, row = found["mem"]
    above = " ".join(text.line(before) for before in range(at - 3, at))
    unit = next((value for flag, value in _FREE_UNITS.items() if f"free {flag}" in above), 1 << 10)
    rest = row[5].split()
    swap = found.get("swap")
    total = _amount(row[2], unit)
    if total is None or total < 1 << 28:
        return  # a unit that cannot be told: no server has less than 256 MB
    memory = Memory(
        total, _amount(rest[-1], unit) if len(rest) == 3 else None, _amount(swap[1][2], unit) if swap else None, _amount(swap[1][4], unit) if swap else None
    )
    told.tell("memory", "free", Strength.LOG, at, memory)


def _amount(word: str, unit: int) -> int | None:
    number = whole(word)
    return number * unit if number is not None else size(word)


def _tell_answers(text: Text, told: Sightings) -> None:
    for at in text.having("gnu/linux"):
        uname = _UNAME.search(text.lines[at][:600])
        if uname:
            told.tell("kernel", uname[1], Strength.OUTPUT, at)
            told.tell("arch", uname[2], Strength.OUTPUT, at)
    for at in text.having("linux version "):
        banner = _BANNER.search(text.lines[at][:600])
        if banner:
            told.tell("kernel", banner[1], Strength.OUTPUT, at)
    for at in text.having("uname -", "getconf page", "/proc/sys/", "nproc"):
        _tell_answer(told, bare(text.lines[at])[0], text.line(at + 1).strip(), at + 1)
    for at in text.having("ldd (", "glibc 2", "gnu libc"):
        glibc = parse_glibc(text.lines[at].strip())
        if glibc and text.lines[at].strip().lower().startswith(("ldd (", "glibc 2", "gnu c")):
            told.tell("glibc", glibc, Strength.OUTPUT, at)
    for at in text.having("madvise"):
        pages = parse_transparent_huge_pages(text.lines[at])
        if pages is not None and text.lines[at].split()[-3:] and text.lines[at].replace("[", "").replace("]", "").split()[-3:] == ["always", "madvise", "never"]:
            told.tell("thp", pages.enabled, Strength.OUTPUT, at)


def _tell_answer(told: Sightings, command: str, answer: str, at: int) -> None:
    setting = _SYSCTL_FILE.search(command)
    if setting:
        value = setting[2] or (answer if whole(answer) is not None and command.startswith(("cat ", "sudo cat ")) else None)
        told.tell(SYSCTL + setting[1].replace("/", "."), value, Strength.OUTPUT, at)
    elif command.startswith("uname -r") and _KERNEL.fullmatch(answer):
        told.tell("kernel", answer, Strength.OUTPUT, at)
    elif command.startswith(("uname -m", "uname -p", "arch")) and answer in ("aarch64", "x86_64"):
        told.tell("arch", answer, Strength.OUTPUT, at)
    elif command.lower().startswith("getconf page") and whole(answer) is not None:
        told.tell("page_size", answer, Strength.OUTPUT, at)
    elif command == "nproc" and whole(answer) is not None:
        told.tell("cpus", answer, Strength.LOG, at)
