"""The journal: what was changed, by whom, from what to what; one JSON object a line, each holding the SHA-256 of the line before.

Contract: `append` returns when the record is on the disk, or raises and leaves no half record. A last line without its end (power loss) tells
of nothing that was done, and is cut off by the next writer. A line that was altered is found and told.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from doctor.apply.change import Change
from doctor.apply.statefolder import StateFolder, write_all

FILE = "journal.jsonl"
MOST = 64 * 1024 * 1024
"""Bytes; a record has a few kilobytes, a machine some dozen transactions."""


class JournalError(Exception):
    """A journal that cannot be trusted; the text says where."""


@dataclass(frozen=True)
class Record:
    """One line. `told` holds what its kind adds (docs/fixes.md)."""

    number: int
    time: str
    transaction: str
    what: str
    told: Mapping[str, Any]


@dataclass
class MadeChange:
    """One change of a transaction, as far as the journal knows. `put_back` counts once it was undone."""

    number: int
    step: str
    change: Mapping[str, Any]
    saved: Mapping[str, Any]
    done: bool = False
    put_back: bool = False


@dataclass
class Transaction:
    """One transaction, pieced together. `outcome` is "" where it was interrupted."""

    ident: str
    time: str
    told: Mapping[str, Any]
    changes: list[MadeChange] = field(default_factory=list)
    outcome: str = ""
    why: str = ""
    undone: str = ""
    """Time at which it was undone by `doctor undo`."""

    @property
    def open(self) -> bool:
        """Interrupted, or its undo was: something may be half done."""
        return self.outcome in ("", "broken off") and not self.undone

    @property
    def standing(self) -> bool:
        """Its changes are (or may be) still there."""
        return not self.undone and self.outcome != "rolled back" and bool(self.changes)


class Journal:
    """The journal of one state folder. Use it under the folder's lock for writing."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder.descriptor
        self._size, self._last, self._count = 0, "", 0
        self.records: list[Record] = []
        self.altered = 0
        """Number of the first line that was altered; 0 for none."""
        self._read()

    def append(self, what: str, transaction: str, **told: Any) -> Record:
        """Writes one record and syncs it. Raises OSError; the journal is then as it was. Raises `JournalError` after an altered line."""
        if self.altered:
            raise JournalError(f"{FILE}: line {self.altered} was altered")
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        record = Record(self._count + 1, time, transaction, what, told)
        plain = {"n": record.number, "time": time, "transaction": transaction, "what": what, **told, "previous": self._last}
        line = json.dumps(plain, ensure_ascii=True, sort_keys=True).encode() + b"\n"
        descriptor = os.open(FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self._folder)
        try:
            os.ftruncate(descriptor, self._size)  # a torn last line goes
            os.lseek(descriptor, self._size, os.SEEK_SET)
            try:
                write_all(descriptor, line)
                os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, self._size)
                raise
        finally:
            os.close(descriptor)
        os.fsync(self._folder)
        self._size += len(line)
        self._last, self._count = hashlib.sha256(line).hexdigest(), record.number
        self.records.append(record)
        return record

    def transactions(self) -> list[Transaction]:
        """Oldest first."""
        found: dict[str, Transaction] = {}
        for record in self.records:
            if record.what == "begin":
                found[record.transaction] = Transaction(record.transaction, record.time, record.told)
            elif record.transaction in found:
                _heard(found[record.transaction], record)
        return list(found.values())

    def _read(self) -> None:
        try:
            descriptor = os.open(FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._folder)
        except FileNotFoundError:
            return
        with open(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_size > MOST:
                raise JournalError(f"{FILE} is no journal of ours")
            data = file.read()
        whole, newline, _torn = data.rpartition(b"\n")
        for line in (whole + newline).splitlines(keepends=True):
            if not self._take(line):
                self.altered = self._count + 1
                return
            self._size += len(line)

    def _take(self, line: bytes) -> bool:
        try:
            plain = json.loads(line)
            record = Record(int(plain.pop("n")), str(plain.pop("time")), str(plain.pop("transaction")), str(plain.pop("what")), plain)
            chained = plain.pop("previous") == self._last and record.number == self._count + 1
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False
        if not chained:
            return False
        self._last, self._count = hashlib.sha256(line).hexdigest(), record.number
        self.records.append(record)
        return True


def _heard(transaction: Transaction, record: Record) -> None:
    told = record.told
    numbered = {change.number: change for change in transaction.changes}
    change = numbered.get(int(told.get("number", 0)))
    if record.what == "change":
        transaction.changes.append(MadeChange(int(told["number"]), str(told["step"]), told["change"], told["saved"]))
    elif record.what == "done" and change is not None:
        change.done = True
    elif record.what == "put back" and change is not None:
        change.put_back = True
    elif record.what == "failed":
        transaction.why = str(told.get("why", ""))
    elif record.what == "end":
        transaction.outcome, transaction.why = str(told["outcome"]), str(told.get("why", "")) or transaction.why
    elif record.what == "undone":
        transaction.undone = record.time


def undoable(transactions: Sequence[Transaction]) -> list[Transaction]:
    """Those whose changes stand, newest first."""
    return [transaction for transaction in reversed(transactions) if transaction.standing or transaction.open]


def change_data(change: Change) -> dict[str, Any]:
    """A change as the journal keeps it."""
    return {"kind": change.KIND, **change.data()}


__all__ = ["FILE", "Journal", "JournalError", "MadeChange", "Record", "Transaction", "change_data", "undoable"]
