"""Asks a server's pages beside the sampling: a server that is slow to answer must not slow down the samples of its processes.

Contract: one request at a time, in a thread that ends by itself after `fetch`'s deadlines and keeps no program from ending. An answer is given out
once, with its age; until one comes, a sample says how long it has been waited for. A missing page is never an old one told again.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from doctor.watch.fetch import Fetch, Page
from doctor.watch.metrics import missing, read_metrics

PATIENCE = 0.25
"""Share of the interval that a sample waits for the answer: a healthy server's lies in the sample in which it was asked for."""
MOST_PATIENCE = 5.0
"""Seconds."""


@dataclass(frozen=True)
class Told:
    """What the server says, as far as it has come. `age`: seconds, at the most, by which it is older than the sample."""

    metrics: Mapping[str, float] | None = None
    problem: str = ""
    health: int | None = None
    page: str = ""
    age: float = 0.0
    waiting: float | None = None
    """Seconds for which an answer has been waited for, where none has come since the last sample; None: one has, or nobody was asked."""


@dataclass
class _Round:
    """Both pages of one server, asked one after the other."""

    url: str
    asked: float
    done: threading.Event = field(default_factory=threading.Event)
    told: Told = Told(problem="no answer")


class Pages:
    """The pages of one server, whose address may change."""

    def __init__(self, get: Fetch, every: float) -> None:
        self._get, self._patience = get, min(MOST_PATIENCE, PATIENCE * every)
        self._asked: _Round | None = None
        self._answered: _Round | None = None
        """The answer that came too late for the sample that asked."""

    def ask(self, url: str, now: float) -> None:
        """Begins to ask, unless the answer before is still awaited. `now`: seconds on a clock that does not jump."""
        if self._asked is not None and not self._asked.done.is_set():
            return
        self._answered, self._asked = self._asked, None
        if url:
            self._asked = _Round(url, now)
            threading.Thread(target=_fill, args=(self._asked, self._get), name="pages", daemon=True).start()

    def take(self, url: str, now: float) -> Told:
        """What has come by now, given out once; waits a moment for what was asked for only now."""
        asked, answered = self._asked, self._answered
        self._answered = None
        if asked is not None and asked.done.wait(self._patience):
            self._asked, answered = None, asked
        if answered is not None and answered.url == url:
            return replace(answered.told, age=max(0.0, now - answered.asked))
        if asked is None or not url:
            return Told()
        waited = max(0.0, now - asked.asked)
        return Told(problem=f"no answer yet, asked {waited:.0f} s ago" if waited >= 1 else "no answer yet", waiting=waited)

    def wait(self, seconds: float) -> bool:
        """Whether an answer lies ready, or comes within this time."""
        return self._asked is not None and self._asked.done.wait(seconds)


def _fill(begun: _Round, get: Fetch) -> None:
    try:
        begun.told = _told(get(begun.url + "/metrics"), get(begun.url + "/health").status)
    finally:
        begun.done.set()


def _told(page: Page, health: int) -> Told:
    if page.status != 200:
        return Told(None, page.problem or f"HTTP {page.status}", health)
    metrics = read_metrics(page.text)
    absent = missing(metrics)
    return Told(metrics or None, "missing: " + ", ".join(absent) if absent else "", health, page.text)


__all__ = ["Pages", "Told"]
