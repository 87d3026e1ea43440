"""The flags of the released versions, from rules/data/vllm-flags.json; the table that fits a version best. Read at most once."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from packaging.version import InvalidVersion, Version

from doctor.lint.flags import Flag, Kind, Table
from doctor.record import dataclass
from doctor.rulepackage import data_text

FILE = "vllm-flags.json"

ORIGIN = "doctor's own table"


@dataclass(frozen=True)
class History:
    """In which of the known releases something was there: versions in order."""

    there: tuple[str, ...]
    last_known: str
    """The newest release that the table knows."""

    @property
    def first(self) -> str:
        return self.there[0]

    @property
    def last(self) -> str:
        return self.there[-1]


@functools.cache
def document() -> Mapping[str, Any]:
    """The data file as it is."""
    loaded: Mapping[str, Any] = json.loads(data_text(FILE))
    return loaded


def versions() -> tuple[str, ...]:
    """Every vLLM release with a table, oldest first."""
    return tuple(document()["versions"])


def newest() -> Table:
    """The table of the newest release."""
    return _table(len(versions()) - 1, exact=True)


def table_of(version: str) -> Table | None:
    """The table of this release. Between two known ones it has what either has and is not `exact`; nor is that of a newer or an older one."""
    wanted = release_of(version)
    if wanted is None:
        return None
    known = [Version(name) for name in versions()]
    below = [at for at, other in enumerate(known) if other <= wanted]
    above = [at for at, other in enumerate(known) if other >= wanted]
    if below and above and below[-1] == above[0]:
        return _table(below[-1], exact=True)
    if below and above:
        return _either(_table(below[-1], exact=False), _table(above[0], exact=False))
    return _table(below[-1] if below else 0, exact=False)


def _either(older: Table, newer: Table) -> Table:
    """What a release between two others may have; where the two differ in the allowed words, every word is."""
    flags = {**newer.flags, **older.flags}
    for name, flag in flags.items():
        other = newer.flags.get(name, flag)
        if other != flag:
            flags[name] = replace(flag, choices=(), kind=flag.kind if flag.kind is other.kind else Kind.ANY)
    version = f"{older.version}-{newer.version}"
    return Table(version, flags, older.keywords | newer.keywords, older.variables | newer.variables, older.origin, exact=False)


def release_of(version: str) -> Version | None:
    """The release that a version belongs to, without its local part: 0.11.0+empty -> 0.11.0; None where it is none."""
    try:
        parsed = Version(version.strip())
    except InvalidVersion:
        return None
    return Version(parsed.public)


@functools.cache
def _table(at: int, *, exact: bool) -> Table:
    data = document()
    flags = {name: flag for name, shapes in data["flags"].items() if (flag := _flag(name, shapes, at)) is not None}
    keywords = frozenset(name for name, ranges in data["keywords"].items() if at in _places(ranges))
    variables = frozenset(name for name, ranges in data["variables"].items() if at in _places(ranges))
    return Table(versions()[at], flags, keywords, variables, ORIGIN, exact)


def _flag(name: str, shapes: list[list[str]], at: int) -> Flag | None:
    for ranges, kind, many, short, choices in shapes:
        if at in _places(ranges):
            return Flag(name, Kind(kind), tuple(choices.split()), many, tuple(short.split()))
    return None


@functools.cache
def _places(ranges: str) -> frozenset[int]:
    found: set[int] = set()
    for part in ranges.split(",") if ranges else ():
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def history(name: str) -> History | None:
    """In which releases a flag was there; None for a flag that none of them had."""
    shapes = document()["flags"].get(name)
    return None if shapes is None else _history({place for shape in shapes for place in _places(shape[0])}, versions())


def variable_history(name: str) -> History | None:
    """In which vLLM releases a VLLM_* variable was read; None for one that none of them knew."""
    ranges = document()["variables"].get(name)
    return _history(_places(ranges), versions()) if ranges else None


def ascend_variables() -> Mapping[str, History]:
    """Variables of vllm-ascend by the releases of vllm-ascend that read them."""
    data = document()
    return {name: _history(_places(ranges), tuple(data["ascend_versions"])) for name, ranges in data["ascend_variables"].items()}


def all_flags() -> frozenset[str]:
    """Every flag of every release in the table."""
    return frozenset(document()["flags"])


def _history(places: frozenset[int] | set[int], names: tuple[str, ...]) -> History:
    return History(tuple(names[place] for place in sorted(places)), names[-1])
