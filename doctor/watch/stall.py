"""Finds stalls while samples come in: requests that run without tokens, an engine that is gone behind a live API, a silent API. Pure.

Contract: one `Stall` an event, begun and, when it is over, ended; a start-up, a shutdown, a sleeping engine and a long prefill are none. While an
answer is waited for, what only the server's pages tell stays as it was: nothing begins by it and nothing ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from doctor.watch.sample import ProcessSample, Sample

NO_TOKENS = 60.0
"""Seconds with running requests and no token, prompt or generated: vLLM ends itself after 300."""
IDLE_KV = 0.05
"""Share of the KV cache in use with nothing running; cached prefixes are not counted as used."""
KV_FULL = 0.98
SILENT = 45.0
"""Seconds without an answer from a live API server that has answered before."""
LEAST = 2
"""Samples in a row that must show it."""

RULES = {
    "no_tokens": "hang-stall-running-no-tokens",
    "kv_stuck": "hang-pd-kv-stuck",
    "engine_dead": "hang-api-alive-engine-dead",
    "broadcast": "hang-shm-broadcast-stall",
    "broadcast_start": "hang-shm-broadcast-benign",
    "api_silent": "",
    "kv_idle": "leak-kv-blocks-idle",
    "blocked": "hang-kernel-task-blocked",
}
"""Kind -> the cause of the rule book."""
HARMLESS = ("broadcast_start",)


@dataclass(frozen=True)
class Stall:
    """One stall. Times in seconds since the epoch; `end` None while it lasts."""

    kind: str
    begin: float
    end: float | None = None
    detail: str = ""
    evidence: str = ""
    """Folder in which evidence was kept."""

    @property
    def rule(self) -> str:
        return RULES.get(self.kind, "")

    @property
    def harmless(self) -> bool:
        return self.kind in HARMLESS


@dataclass
class _Run:
    """A condition that holds since some time."""

    begin: float
    count: int = 0


class StallWatch:
    """Fed with every sample; `stalls` are those so far."""

    def __init__(self) -> None:
        self.stalls: list[Stall] = []
        self._runs: dict[str, _Run] = {}
        self._ready = self._answered = self._stopping = False
        self._had_engine: frozenset[str] = frozenset()
        """The servers of which an engine was seen."""
        self._before: Sample | None = None
        self._paged: Sample | None = None
        """The last sample with an answer of the server."""

    def add(self, sample: Sample) -> tuple[Stall, ...]:
        """The stalls that this sample begins."""
        signs = sample.log.signs if sample.log is not None else ()
        self._remember(sample, signs)
        begun = []
        for kind, held, wait, detail in self._conditions(sample, signs):
            stall = self._hold(kind, held, wait, sample, detail)
            begun += [stall] if stall is not None else []
        self._before = sample
        self._paged = sample if sample.metrics is not None else self._paged
        return tuple(begun)

    def _remember(self, sample: Sample, signs: tuple[str, ...]) -> None:
        restarted = any(event.startswith(("started api", "gone api")) for event in sample.events)
        if restarted:
            self._ready = self._answered = self._stopping = False
            self._had_engine = frozenset()
            self._paged = None
        self._stopping = self._stopping or "shutdown" in signs
        self._ready = self._ready or "ready" in signs or bool(sample.metrics and sample.metrics.get("requests"))
        self._had_engine |= {process.server for process in sample.processes if process.role in ("engine", "worker")}
        self._answered = self._answered or sample.metrics is not None

    def _conditions(self, sample: Sample, signs: tuple[str, ...]) -> list[tuple[str, bool | None, float, str]]:
        """(kind, whether it holds now, seconds that it must hold, detail). None: only an answer that is still waited for can tell."""
        roles = {process.role for process in sample.processes if not sample.asked or process.server in ("", sample.asked)}
        metrics = sample.metrics or {}
        asleep = metrics.get("awake") == 0
        running = _running(sample)
        waits = sample.waiting is not None
        still = self._no_tokens(sample)
        stuck = still and not self._stopping
        full = (metrics.get("kv") or (sample.log.kv if sample.log else None) or 0.0) >= KV_FULL
        engine_gone = "api" in roles and not roles & {"engine", "worker"} and bool(self._had_engine & {"", sample.asked} if sample.asked else self._had_engine)
        headless = self._headless(sample)
        dead = "api" in roles and not self._stopping and not asleep and self._ready and (engine_gone or sample.health == 503 or "engine_dead" in signs)
        wait = NO_TOKENS if headless and not dead else 0.0 if sample.health == 503 else sample.every
        idle = running == 0 and metrics.get("waiting", 0) == 0 and metrics.get("kv", 0.0) > IDLE_KV
        blocked = [process for process in sample.processes if process.state == "D"]
        told = f"{running:.0f} running" if running else ""
        untold = None if waits else False
        return [
            ("no_tokens", None if still is None else stuck and not full, NO_TOKENS, told),
            ("kv_stuck", None if still is None else stuck and full, NO_TOKENS, told),
            ("engine_dead", dead or bool(headless) or untold, wait, "" if sample.health is None and dead else f"/health {sample.health}" if dead else ", ".join(headless)),
            ("broadcast", "broadcast" in signs and self._ready and (bool(running and still) or (still is None and "no_tokens" in self._runs)), 0.0, told),
            ("broadcast_start", "broadcast" in signs and not self._ready, 0.0, ""),
            ("api_silent", self._answered and sample.metrics is None and "api" in roles and not self._stopping, SILENT, sample.metrics_problem),
            ("kv_idle", idle or untold, NO_TOKENS, f"{metrics.get('kv', 0.0):.0%}"),
            ("blocked", bool(blocked) and self._same_blocked(blocked), NO_TOKENS, ", ".join(f"{process.label} ({process.pid})" for process in blocked[:4])),
        ]

    def _headless(self, sample: Sample) -> list[str]:
        """The other servers whose engine is gone while their API lives: nobody asks their pages, so that a shutdown has to be told by its length."""
        roles: dict[str, set[str]] = {}
        for process in sample.processes:
            roles.setdefault(process.server, set()).add(process.role)
        others = self._had_engine - {"", sample.asked} if sample.asked else frozenset()
        return sorted(server for server in others if "api" in roles.get(server, ()) and not roles[server] & {"engine", "worker"})

    def _no_tokens(self, sample: Sample) -> bool | None:
        """Whether, since the answer before (or the log's statistics), requests ran and not one token came; None where the answer is still waited for."""
        before, paged = self._before, self._paged
        now, then = sample.metrics, paged.metrics if paged is not None else None
        if now is not None and then is not None and paged is not None and "generated" in now and "generated" in then:
            return bool(_running(sample) and _running(paged)) and now["generated"] == then["generated"] and now.get("prompted") == then.get("prompted")
        log = sample.log
        if log is not None and log.age <= 30 and before is not None:
            return bool(_running(sample) and _running(before)) and log.generation == 0 and log.prompt == 0
        return None if sample.waiting is not None else False

    def _same_blocked(self, blocked: Sequence[ProcessSample]) -> bool:
        """Whether one of them stood there in the sample before, too, and has not used the processor since."""
        before = {process.life: process for process in self._before.processes} if self._before is not None else {}
        return any(process.life in before and before[process.life].state == "D" and before[process.life].cpu == process.cpu for process in blocked)

    def _hold(self, kind: str, held: bool | None, wait: float, sample: Sample, detail: str) -> Stall | None:
        run = self._runs.get(kind)
        open_at = next((index for index, stall in enumerate(self.stalls) if stall.kind == kind and stall.end is None), None)
        if held is None:
            return None
        if not held:
            self._runs.pop(kind, None)
            if open_at is not None:
                self.stalls[open_at] = replace(self.stalls[open_at], end=sample.time)
            return None
        if run is None:
            begin = sample.time - sample.every if wait else sample.time  # it began after the sample before
            run = self._runs[kind] = _Run(begin)
        run.count += 1
        if open_at is not None or sample.time - run.begin < wait or (wait and run.count < LEAST):
            return None
        stall = Stall(kind, run.begin, detail=detail)
        self.stalls.append(stall)
        del self.stalls[:-200]
        return stall

    def keep(self, stall: Stall, folder: str) -> None:
        """Notes where evidence of a stall was kept."""
        self.stalls = [replace(each, evidence=folder) if (each.kind, each.begin) == (stall.kind, stall.begin) else each for each in self.stalls]


def _running(sample: Sample) -> float:
    metrics = sample.metrics or {}
    if "running" in metrics:
        return metrics["running"]
    return (sample.log.running or 0.0) if sample.log is not None and sample.log.age <= 30 else 0.0


__all__ = ["RULES", "Stall", "StallWatch"]
