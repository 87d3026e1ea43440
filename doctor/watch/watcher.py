"""The live watch: sampler, sample file, session and evidence together, one step a sample. Nothing here waits; the caller does.

Contract: `step` never raises for what a host, a server or a full disk does; what went wrong stands in `problems`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from doctor.facts.cann import Cann
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.host import Host, Unavailable
from doctor.watch import smaps
from doctor.watch.account import about
from doctor.watch.evidence import collect
from doctor.watch.judge import Settings
from doctor.watch.sample import Sample
from doctor.watch.samplefile import SampleFile, read_samples
from doctor.watch.sampler import Sampler
from doctor.watch.session import Listener, Session
from doctor.watch.stall import Stall

MOST_ALARMS = 4
"""Processes whose kinds of memory are read after one sample: the kernel walks all their pages."""
KEEP_FOR = ("no_tokens", "kv_stuck", "engine_dead", "broadcast", "api_silent", "blocked")
LINES = 60
"""Log lines that are kept with the samples at a stall, for the rule book."""
STALE = 6 * 3600.0
"""Seconds after which samples of an earlier watch in the same file belong to something else."""


class Watcher:
    """One live watch. `path` None: nothing is kept on disk."""

    def __init__(self, host: Host, sampler: Sampler, settings: Settings, path: Path | None = None, listener: Listener | None = None) -> None:
        self._host, self.sampler = host, sampler
        self.session = Session(settings, listener)
        self._file = SampleFile(path) if path is not None else None
        self._path = path
        self._events: list[str] = []
        self._told_about = False
        self._file_problem = ""
        self.problems: dict[str, str] = sampler.problems

    def resume(self) -> int:
        """Takes the samples of an earlier run of the same watch in, so that it goes on; how many there were."""
        if self._path is None or self._host is None:
            return 0
        try:
            samples = list(read_samples(self._path))
        except OSError:
            return 0
        now = self._host.now().timestamp()
        if not samples or not 0 <= now - samples[-1].time < STALE:
            return 0
        for sample in samples:
            self.session.add(sample)
        self._events.append("resumed")
        return len(samples)

    def step(self) -> Sample:
        """One sample: taken, kept, judged; what it begins is looked at more closely."""
        sample = self.sampler.sample()
        if not self._told_about and self.sampler.members:
            self._told_about = True
            kinds = (Packages, Cann, Chip) if self.sampler.asks_npu else (Packages, Cann)
            self._events += [f"about {line}" for line in about(self._host, self.sampler.members, kinds)]
        sample = replace(sample, events=(*self._events, *sample.events))
        self._events = []
        self._keep(sample)
        for stall in self.session.add(sample):
            self._look_closer(stall, sample)
        self._events += list(self._kinds())
        return sample

    def _keep(self, sample: Sample) -> None:
        if self._file is None:
            return
        try:
            self._file.append(sample)
            self.problems.pop("samples", None)
        except OSError as problem:
            self.problems["samples"] = f"{self._path}: {problem.strerror}"

    def _look_closer(self, stall: Stall, sample: Sample) -> None:
        if stall.kind not in KEEP_FOR or self._path is None:
            return
        if self.sampler.tail is not None:
            self._events += [f"log: {line[:1000]}" for line in list(self.sampler.tail.lines)[-LINES:]]
        stamp = datetime.fromtimestamp(sample.time, timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        folder = collect(self._host, self.sampler, self._path.with_suffix(".evidence"), stall.kind, stamp, self.sampler.members)
        if folder:
            self.session.watch.keep(stall, folder)
            self._events.append(f"evidence {stall.kind} {folder}")

    def _kinds(self) -> Iterator[str]:
        """Kinds of memory of what grows, as events of the next sample."""
        for each in self.session.alarmed()[:MOST_ALARMS]:
            kinds = smaps.read_kinds(self._host, each.key.pid)
            if isinstance(kinds, Unavailable):
                self.problems[f"smaps {each.key.pid}"] = str(kinds)
                self.session.kinds[each.key.pid] = smaps.Kinds({}, 0, 0)  # asked once
                continue
            self.session.kinds[each.key.pid] = kinds
            yield smaps.told(each.key.pid, kinds)

    def finish(self) -> None:
        """Judges what there is, and keeps what was learnt since the last sample."""
        self.session.judged()
        self._events += list(self._kinds())
        last = self.session.history.last
        if self._events and last is not None:
            note = Sample(last.time, last.uptime, last.boot, last.every, events=tuple(self._events), note=True)
            self.session.add(note)
            self._keep(note)
            self._events = []


def recomputed(path: Path, settings: Settings, listener: Listener | None = None) -> Session:
    """The session of a sample file. Raises OSError where it cannot be read."""
    session = Session(settings, listener)
    for sample in read_samples(path):
        session.add(sample)
    return session


__all__ = ["Watcher", "recomputed"]
