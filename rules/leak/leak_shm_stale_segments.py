"""Segments of shared memory: left on a machine where no vLLM runs any more, or told at exit."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.leftovers import Segments
from doctor.facts.vllm import VllmProcesses
from doctor.finding import Basis, Confidence, Evidence, Hit
from doctor.logscan.signature import Matches, evidence_of

OLD = 600.0
"""Seconds without a change: what is younger may belong to a start that is under way."""
HARMLESS = 50
"""So many semaphores of Python's multiprocessing, of 32 bytes each, hurt nobody: any program that was killed leaves one."""


def judge(matches: Matches, segments: Segments | None, processes: VllmProcesses | None) -> Iterator[Hit]:
    leaked = matches["leaked"]
    if leaked:
        yield Hit(found=leaked[0].text[:120], evidence=(evidence_of(leaked),), confidence=Confidence.POSSIBLE, basis=Basis.LOG, position=leaked[0].ordinal + 1)
    if segments is None or processes is None or processes.processes:
        return
    stale = [segment for segment in segments.found if segment.age is not None and segment.age >= OLD]
    if all("/sem." in segment.path for segment in stale) and len(stale) < HARMLESS:
        return
    size, oldest = sum(segment.size for segment in stale), max(segment.age or 0.0 for segment in stale)
    yield Hit(
        found=f"{len(stale)} segments, {size / 2**20:.0f} MiB, the oldest {oldest / 3600:.0f} h old; no vLLM runs",
        wanted="none",
        evidence=tuple(Evidence(segment.path, f"{segment.size} bytes, unchanged for {(segment.age or 0.0) / 3600:.1f} h") for segment in stale[:4]),
        confidence=Confidence.POSSIBLE,
    )
