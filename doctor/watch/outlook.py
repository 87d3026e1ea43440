"""When memory ends, and which processes grow alike: what several trends say together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from doctor.watch.history import Judged, headroom
from doctor.watch.judge import HOUR, MIB, Settings, Verdict
from doctor.watch.roles import ROLES
from doctor.watch.sample import Sample

ALIKE = 0.25
"""Slopes of ranks that differ by less than this share of the largest grow alike."""


@dataclass(frozen=True)
class Group:
    """All processes of one class, by one quantity. `shape`: "all" grow alike, "some", "one" alone, "none"; "" for a class of one process."""

    role: str
    quantity: str
    members: tuple[Judged, ...]
    verdict: Verdict
    shape: str
    level: float
    slope: float
    """Sum over its processes that grow, an hour; of all where none does."""
    server: str = ""
    """Which server's, where several are watched."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others: its class with its server, and its quantity."""
        return f"{self.role} {self.server}".rstrip(), self.quantity

    @property
    def worst(self) -> Judged:
        return max(self.members, key=lambda each: (each.trend.verdict.rank, each.trend.slope))


def within_caches(judged: Sequence[Judged], caps: Mapping[str, float]) -> tuple[Judged, ...]:
    """Leaks that may still be a cache filling in a straight line, since all their growth fits what the command line lets a cache take: suspects.

    `caps`: bytes by class.
    """

    def fits(each: Judged) -> bool:
        grown = max((value for _, value in each.trend.envelope), default=0.0) - min((value for _, value in each.trend.envelope), default=0.0)
        return each.key.quantity == "private" and each.trend.verdict is Verdict.LEAK and 0 < grown <= caps.get(each.role, 0.0)

    return tuple(replace(each, trend=replace(each.trend, verdict=Verdict.SUSPECT, why="within_cache")) if fits(each) else each for each in judged)


def with_ends(judged: Sequence[Judged], last: Sample, settings: Settings) -> tuple[Judged, ...]:
    """Each trend that grows with the time until what it grows in is used up; several that share it use it up together."""
    shared = sum(each.trend.slope for each in judged if each.trend.verdict.bad and each.alive and each.key.quantity in ("private", "shmem", "shm"))
    high = sum(max(each.trend.high, each.trend.slope) for each in judged if each.trend.verdict.bad and each.alive and each.key.quantity in ("private", "shmem", "shm"))
    return tuple(_ended(each, last, settings, shared, high) if each.trend.verdict.bad and each.alive else each for each in judged)


def _ended(each: Judged, last: Sample, settings: Settings, shared: float, high: float) -> Judged:
    room = _room(each, last)
    if room is None or each.trend.slope <= 0:
        return each
    amount, what = room
    together = what in ("host", "cgroup")
    slope, fast = (shared, high) if together else (each.trend.slope, max(each.trend.high, each.trend.slope))
    left = amount / slope * HOUR
    critical = left < settings.soon and each.trend.why not in ("load_rises", "within_cache")
    trend = replace(each.trend, seconds_left=left, seconds_left_low=amount / fast * HOUR, ends=what, verdict=Verdict.CRITICAL if critical else each.trend.verdict)
    return replace(each, trend=trend)


def _room(each: Judged, last: Sample) -> tuple[float, str] | None:
    """How much it may still grow, and what ends: "host", "cgroup", "hbm", "shm", "fds"."""
    quantity = each.key.quantity
    if quantity in ("private", "shmem"):
        return headroom(last.host)
    if quantity == "shm":
        rooms = [room for room in (headroom(last.host),) if room is not None]
        if last.host.shm_size is not None and last.host.shm is not None:
            rooms.append((max(0.0, float(last.host.shm_size - last.host.shm)), "shm"))
        return min(rooms) if rooms else None
    if quantity == "hbm":
        chip = next((card for card in last.cards or () if card.card == each.key.card and not card.pid and card.total), None)
        return None if chip is None or chip.total is None else ((chip.total - chip.used) * MIB, "hbm")
    if quantity == "fds":
        process = next((process for process in last.processes if process.life == (each.key.pid, each.key.started)), None)
        return None if process is None or process.fd_limit is None or process.fds is None else (float(process.fd_limit - process.fds), "fds")
    return None


def groups(judged: Iterable[Judged]) -> tuple[Group, ...]:
    """The classes, in the order of a server's processes, each server for itself; of a process that was restarted, all its lives."""
    judged = tuple(judged)
    several = len({each.server for each in judged if each.server}) > 1
    by: dict[tuple[str, str, str], list[Judged]] = {}
    for each in judged:
        by.setdefault((each.server if several else "", each.role, each.key.quantity), []).append(each)
    order = {role: index for index, role in enumerate(ROLES)}
    keys = sorted(by, key=lambda key: (not key[0], key[0], order.get(key[1], 99), key[2] != "private", key[2]))
    return tuple(_group(*key, by[key]) for key in keys)


def _group(server: str, role: str, quantity: str, members: list[Judged]) -> Group:
    alive = [each for each in members if each.alive]
    bad = [each for each in members if each.trend.verdict.bad]
    told = [each for each in members if each.trend.verdict is not Verdict.TOO_SHORT] or members
    verdict = max((each.trend.verdict for each in told), key=lambda each: each.rank)
    level = sum(each.trend.level for each in alive or members)
    return Group(role, quantity, tuple(members), verdict, _shape(bad, alive or members), level, sum(each.trend.slope for each in bad or told), server)


def _shape(bad: list[Judged], members: list[Judged]) -> str:
    if len(members) < 2:
        return ""
    if not bad:
        return "none"
    slopes = [each.trend.slope for each in bad]
    alike = len(bad) == len(members) and min(slopes) >= (1 - ALIKE) * max(slopes)
    return "all" if alike else "one" if len(bad) == 1 else "some"


__all__ = ["Group", "groups", "with_ends", "within_caches"]
