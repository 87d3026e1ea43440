"""Profiles of the NPU as totals: the operator tables and the step table that msprof and torch_npu's profiler write as CSV.

Contract: `ProfileReader` takes the lines of any text in order and keeps totals only, so that memory does not grow with the file; it never
raises. A table starts at its header (in any of the variants of the releases since CANN 5) and ends where a line has too few cells.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts import Facts, Provider
from doctor.host import Host, Unavailable, Why
from doctor.record import dataclass
from doctor.text import clean_line

SIGNS = ("(us)", "Not Overlapped")
"""One of these stands in every header."""

MOST_TYPES = 5000
"""Types of operators that are told apart; a network has a few hundred."""

_HEADER_CAP = 4000
_NAME_CAP = 120

_COLUMNS: Mapping[str, str] = {
    "opname": "name",
    "name": "name",
    "optype": "type",
    "type": "type",
    "tasktype": "core",
    "acceleratorcore": "core",
    "coretype": "core",
    "taskduration(us)": "time",
    "taskduration": "time",
    "duration(us)": "time",
    "taskwaittime(us)": "wait",
    "waittime(us)": "wait",
    "count": "count",
    "totaltime(us)": "total",
    "computing": "computing",
    "communication(notoverlapped)": "exposed",
    "free": "free",
}
"""Header without blanks and underscores, in lower case -> what it is. Sources: op_summary and op_statistic of msprof;
torch_npu/profiler/analysis/prof_common_func/_csv_headers.py (Ascend/pytorch), which renames op_summary's columns in kernel_details.csv."""

_COLLECTIVES = ("hcom", "hccl", "aiv_all", "aiv_reduce", "allreduce", "allgather", "reducescatter", "alltoall", "moedistribute", "runaicpurpcsrv")
"""How the types of communication operators start, in lower case."""


@dataclass(frozen=True)
class OpTotal:
    """All calls of one type of operator on one kind of core. Times in microseconds."""

    type: str
    core: str
    """AI_CORE, AI_VECTOR_CORE, MIX_AIC, AI_CPU, COMMUNICATION …; empty where it was not recorded."""
    count: int
    time: float
    wait: float = 0.0
    """How long its tasks waited behind the end of the task before them on their stream."""

    @property
    def mean(self) -> float:
        return self.time / self.count if self.count else 0.0

    @property
    def communication(self) -> bool:
        kind = self.type.lower()
        return self.core in ("COMMUNICATION", "HCCL") or (kind.startswith(_COLLECTIVES) and "matmul" not in kind)


@dataclass(frozen=True)
class OpSummary:
    """What a profile says about the operators: totals by type and core, the longest first. Times in microseconds, summed over all devices."""

    table: str
    """op_summary, kernel_details or op_statistic."""
    totals: tuple[OpTotal, ...]
    waits: bool = False
    """Whether the table has a column of waiting times."""
    unread: int = 0
    """Rows whose time is no number."""
    source: str = ""
    line: int = 0

    @property
    def time(self) -> float:
        return sum(total.time for total in self.totals)

    @property
    def wait(self) -> float:
        return sum(total.wait for total in self.totals)

    @property
    def communication(self) -> float:
        """Time of communication operators, overlapped or not."""
        return sum(total.time for total in self.totals if total.communication)

    @property
    def count(self) -> int:
        return sum(total.count for total in self.totals)

    @property
    def by_type(self) -> tuple[OpTotal, ...]:
        """Totals of each type whatever its core, the longest first; the core is that of the longest part."""
        return _merged(self.totals, lambda total: total.type)

    @property
    def by_core(self) -> Mapping[str, float]:
        """Time by kind of core."""
        return {total.core: total.time for total in _merged(self.totals, lambda total: total.core)}

    def share(self, time: float) -> float:
        """A time as a part (0 to 1) of the whole."""
        return time / self.time if self.time > 0 else 0.0


@dataclass(frozen=True)
class StepTrace:
    """step_trace_time.csv summed over its rows: how the time of the steps divides. Its unit differs between releases; only shares count."""

    steps: int
    computing: float
    exposed: float
    """Communication that no computing overlaps."""
    free: float
    source: str = ""
    line: int = 0

    def share(self, time: float) -> float:
        """A time as a part (0 to 1) of all steps."""
        whole = self.computing + self.exposed + self.free
        return time / whole if whole > 0 else 0.0


def _merged(totals: tuple[OpTotal, ...], key: Any) -> tuple[OpTotal, ...]:
    merged: dict[str, OpTotal] = {}
    for total in totals:
        known = merged.get(key(total))
        merged[key(total)] = (
            total if known is None else OpTotal(known.type, known.core, known.count + total.count, known.time + total.time, known.wait + total.wait)
        )
    return tuple(sorted(merged.values(), key=lambda total: -total.time))


class _Table:
    """One header: where its columns are, and the character between them."""

    def __init__(self, kind: str, columns: Mapping[str, int], comma: str) -> None:
        self.kind = kind
        self.columns = columns
        self.comma = comma
        self.last = max(columns.values())

    def cells(self, line: str) -> list[str]:
        """The cells up to the last one that counts; what follows (shapes, counters) stays in one."""
        cells = line.split(self.comma, self.last + 1)
        if '"' in "".join(cells[: self.last + 1]):
            try:
                cells = next(csv.reader([line], delimiter=self.comma), [])
            except csv.Error:
                return []
        return cells


def header(line: str) -> _Table | None:
    """The table that starts with this line, or None where it is no header of one."""
    line = line[:_HEADER_CAP].lstrip("\ufeff> `")
    comma = "\t" if line.count("\t") > line.count(",") else ","
    columns: dict[str, int] = {}
    names = line.split(comma)
    for index, cell in enumerate(names):
        found = _COLUMNS.get(cell.strip().strip('"').replace(" ", "").replace("_", "").lower())
        if found is not None:
            columns.setdefault(found, index)
    have = columns.keys()
    if {"computing", "exposed", "free"} <= have:
        return _Table("step_trace", {name: columns[name] for name in ("computing", "exposed", "free")}, comma)
    if {"type", "count", "total"} <= have:
        return _Table("op_statistic", {name: columns[name] for name in ("type", "core", "count", "total") if name in have}, comma)
    if {"core", "time"} <= have and have & {"type", "name"}:
        kind = "op_summary" if "task" in names[columns["time"]].lower() else "kernel_details"
        return _Table(kind, {name: columns[name] for name in ("name", "type", "core", "time", "wait") if name in have}, comma)
    return None


class ProfileReader:
    """Totals of every profile table in the lines that it is fed."""

    def __init__(self) -> None:
        self._table: _Table | None = None
        self._source = ""
        self._sums: dict[str, dict[tuple[str, str], list[float]]] = {}
        self._unread: dict[str, int] = {}
        self._waits: set[str] = set()
        self._places: dict[str, tuple[str, int]] = {}
        self._steps = [0.0, 0.0, 0.0, 0.0]

    def wants(self, source: str) -> bool:
        """Whether the next lines of this source belong to a table that has started."""
        return self._table is not None and source == self._source

    def feed(self, source: str, number: int, line: str) -> None:
        """The next line; `number` counts from 1."""
        if self._table is not None and source == self._source:
            if self._row(self._table, line):
                return
            self._table = None
        if any(sign in line[:_HEADER_CAP] for sign in SIGNS):
            self._table, self._source = header(line), source
            if self._table is not None:
                self._places.setdefault(self._table.kind, (source, number))

    def _row(self, table: _Table, line: str) -> bool:
        """Adds one row; False where the line is none."""
        cells = table.cells(line)
        if len(cells) <= table.last:
            return False
        at = table.columns
        if table.kind == "step_trace":
            times = [_number(cells[at[name]]) for name in ("computing", "exposed", "free")]
            if None in times:
                return False
            self._steps = [old + (new or 0.0) for old, new in zip(self._steps, (1.0, *times), strict=True)]
            return True
        statistic = table.kind == "op_statistic"
        count = _number(cells[at["count"]]) if statistic else 1.0
        time = _number(cells[at["total" if statistic else "time"]])
        if time is None or count is None:
            self._unread[table.kind] = self._unread.get(table.kind, 0) + 1
            return True
        wait = (_number(cells[at["wait"]]) or 0.0) if "wait" in at else 0.0
        if "wait" in at:
            self._waits.add(table.kind)
        self._add(table.kind, _type(cells, at), _core(cells, at), (count, time, wait))
        return True

    def _add(self, table: str, kind: str, core: str, values: tuple[float, float, float]) -> None:
        sums = self._sums.setdefault(table, {})
        key = (kind, core) if (kind, core) in sums or len(sums) < MOST_TYPES else ("others", "")
        known = sums.setdefault(key, [0.0, 0.0, 0.0])
        for index, value in enumerate(values):
            known[index] += value

    def facts(self) -> Iterator[object]:
        """The operators of the most telling table, and the steps."""
        for table in ("op_summary", "kernel_details", "op_statistic"):
            sums = self._sums.get(table)
            if sums:
                totals = tuple(OpTotal(clean_line(kind), clean_line(core), int(count), time, wait) for (kind, core), (count, time, wait) in sums.items())
                ordered = tuple(sorted(totals, key=lambda total: -total.time))
                yield OpSummary(table, ordered, table in self._waits, self._unread.get(table, 0), *self._places[table])
                break
        steps, computing, exposed, free = self._steps
        if steps:
            yield StepTrace(int(steps), computing, exposed, free, *self._places["step_trace"])


def _number(cell: str) -> float | None:
    """A time or a count; msprof ends some with a tab, and writes N/A where it has none."""
    try:
        value = float(cell.strip().strip('"')[:40])
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < 1e15 else None


def _type(cells: list[str], at: Mapping[str, int]) -> str:
    """The operator's type. At profiler level 0 only its name is there, whose last part is the type: aclnnMul_MulAiCore_Mul."""
    kind = cells[at["type"]].strip().strip('"') if "type" in at else ""
    if kind in ("", "N/A") and "name" in at:
        kind = cells[at["name"]].strip().strip('"')
        kind = kind.rpartition("_")[2] if kind.startswith("aclnn") else kind
    return kind[:_NAME_CAP] or "unknown"


def _core(cells: list[str], at: Mapping[str, int]) -> str:
    core = cells[at["core"]].strip().strip('"')[:_NAME_CAP] if "core" in at else ""
    return "" if core == "N/A" else core


def _none(host: Host, facts: Facts) -> Unavailable:
    """A profile is a file that someone made and names; a host has none of its own."""
    return Unavailable(OpSummary.__name__, Why.MISSING, "no profile was given")


PROVIDERS: tuple[Provider[Any], ...] = (Provider(OpSummary, _none), Provider(StepTrace, _none))
