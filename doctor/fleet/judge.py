"""Judges the snapshots of many nodes, several at once, and keeps of each what a comparison needs.

Contract: whatever a snapshot holds, its node has an answer; one that cannot be read costs no other its own. Which process judges a node, and in
which order, changes nothing.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from doctor.bundle.diff import side_of
from doctor.bundle.opened import Opened, open_recorded
from doctor.diagnosis import Cause
from doctor.examine import Examination, Selection, examine_host, examine_text
from doctor.facts import Facts, known
from doctor.facts.network import Hccn
from doctor.facts.rank_table import RankTable
from doctor.finding import Outcome
from doctor.fleet.firsterror import first_error
from doctor.fleet.node import Node, Standing, Told, Wire
from doctor.host.recorded import NotAHost
from doctor.logscan.sources import all_chunks
from doctor.rulebook import Rulebook, load
from doctor.text import clean_line

T = TypeVar("T")

SMALL = 4
"""Snapshots from which on further processes are started: each takes half a second to be ready."""


@dataclass(frozen=True)
class Asked:
    """One snapshot to judge. `arrived` is when the controller had it, for the clock of the node."""

    name: str
    path: str
    arrived: datetime | None = None
    selection: Selection = Selection()


def judge_all(asked: Sequence[Asked], workers: int = 0, heard: Callable[[Node], None] | None = None) -> tuple[Node, ...]:
    """The nodes, in the order that was asked. `workers` 0: as many as there are processors."""
    count = workers or len(os.sched_getaffinity(0))
    if count < 2 or len(asked) < SMALL:
        return tuple(_heard(judge(one), heard) for one in asked)
    with ProcessPoolExecutor(min(count, len(asked)), initializer=_ready) as pool:
        found = []
        for one, future in [(one, pool.submit(judge, one)) for one in asked]:
            try:
                node = future.result()
            except BrokenProcessPool:
                node = Node(one.name, Standing.UNREADABLE, "the process that judged it was ended, as where memory runs out")
            found.append(_heard(node, heard))
    return tuple(found)


def _heard(node: Node, heard: Callable[[Node], None] | None) -> Node:
    if heard is not None:
        heard(node)
    return node


def _ready() -> None:
    _book()


@functools.cache
def _book() -> Rulebook:
    return load()


def judge(asked: Asked) -> Node:
    """One node."""
    start = time.perf_counter()
    try:
        opened = open_recorded(Path(asked.path))
    except (NotAHost, OSError, ValueError) as problem:
        return Node(asked.name, Standing.UNREADABLE, clean_line(str(problem))[:500], seconds=time.perf_counter() - start)
    book = _book()
    examination = _examined(opened, book, asked)
    outcomes = [verdict.outcome for verdict in examination.verdicts]
    return Node(
        asked.name,
        Standing.JUDGED,
        causes=tuple(_told(cause) for cause in examination.causes),
        clear=outcomes.count(Outcome.CLEAR),
        skipped=outcomes.count(Outcome.SKIPPED),
        broken=tuple(verdict.rule for verdict in examination.verdicts if verdict.outcome is Outcome.BROKEN),
        side=side_of(asked.name, examination),
        wire=_wire(examination.facts),
        first_error=first_error(opened.logs),
        late=_late(opened, asked.arrived),
        seconds=time.perf_counter() - start,
    )


def _examined(opened: Opened, book: Rulebook, asked: Asked) -> Examination:
    chunks = all_chunks(opened.logs, [], lambda _: None)
    if opened.host is None:
        return examine_text(asked.name, chunks, book, asked.selection)
    return examine_host(opened.host, book, asked.selection, chunks=chunks)


def _told(cause: Cause) -> Told:
    finding = cause.finding
    return Told(finding.rule, finding.severity, finding.title, finding.subject, clean_line(finding.found)[:300])


def _wire(facts: Facts) -> Wire:
    hccn, table = _fact(facts, Hccn), _fact(facts, RankTable)
    cards = hccn.cards if hccn else ()
    return Wire(
        {card.npu_id: card.address for card in cards if card.address},
        {card.npu_id: card.tls for card in cards if card.tls is not None},
        tuple((device.server, _number(device.device), device.address) for device in table.devices) if table else (),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1


def _fact(facts: Facts, kind: type[T]) -> T | None:
    try:
        return known(facts.get(kind))
    except Exception:  # noqa: BLE001  a provider that breaks costs its own facts
        return None


def _late(opened: Opened, arrived: datetime | None) -> float | None:
    """Recording takes some seconds, so a snapshot is always somewhat older than its arrival."""
    if arrived is None or opened.host is None:
        return None
    try:
        return (arrived - opened.host.now()).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None


__all__ = ["Asked", "judge", "judge_all"]
