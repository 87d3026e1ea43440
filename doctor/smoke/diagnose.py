"""From a failed step to its cause: what it printed goes through the same rules as any log, together with the facts of this machine.

A cause counts here if the step's output shows it, or if the facts show a failure of what the step is about (the driver, CANN, torch_npu …).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from doctor.diagnosis import Cause
from doctor.examine import Selection, examine_host
from doctor.finding import Basis, Confidence, Severity
from doctor.host import Host
from doctor.logscan.sources import text_chunk
from doctor.rule import Role
from doctor.rulebook import Rulebook
from doctor.smoke import account
from doctor.smoke.child import Ended, How
from doctor.smoke.outcome import Diagnosis

AREAS_OF_NPU = frozenset({"driver", "firmware", "cann", "npu", "torch", "container", "hccl"})
"""Areas whose failures, shown by facts alone, stop a step on an NPU."""

SLOW_CARD = "npu-slow-card"

SPEAKING = frozenset({"engine", "model", "server"})
"""Steps whose failed checks tell of an engine's output."""


def diagnose(host: Host, book: Rulebook, step: str, ended: Ended, device: str, python: str | None, log: str = "") -> Diagnosis:
    """The causes of one failed step. `log` is what else was written: CANN's own logs, the kernel's."""
    text = "\n".join([ended.output, *_told(step, ended), log, *(account.told(step, ended) if device == "npu" else ())])
    examination = examine_host(host, book, Selection(), python=python, chunks=[text_chunk(text, f"smoke/{step}")])
    causes = _once(cause for cause in examination.causes if _belongs(cause, step, device))
    return Diagnosis(causes, None if any(_shown(cause) for cause in causes) else examination.first_error)


def compared(host: Host, book: Rulebook, step: str, ended: Ended) -> Diagnosis | None:
    """What a step shows that passed on every card: one that is slower than the others. None for nothing."""
    sentences = list(account.slow_cards(step, ended))
    if not sentences:
        return None
    examination = examine_host(host, book, Selection(only=(SLOW_CARD,)), chunks=[text_chunk("\n".join(sentences), f"smoke/{step}")])
    return Diagnosis(tuple(cause for cause in examination.causes if cause.rule.id == SLOW_CARD)) if examination.causes else None


def _once(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """The first of each rule: that of the surest target comes first, and others that run here are not the matter."""
    return tuple({cause.rule.id: cause for cause in reversed(list(causes))}.values())[::-1]


def _told(step: str, ended: Ended) -> Iterator[str]:
    """The failed checks of what an engine said, and the way the process ended, in the words of a log. Those of the device are facts already."""
    if step in SPEAKING:
        yield from (check.detail for check in ended.checks if not check.passed)
    if ended.how is How.CRASHED and ended.signal:
        yield f"Process ended by {ended.signal} in: {ended.stage}"


def _shown(cause: Cause) -> bool:
    """Told by the output, and more than what follows from something else ("the engine died")."""
    return cause.rule.role is not Role.SYMPTOM and cause.finding.basis is not Basis.FACTS and cause.finding.severity is Severity.FAIL


def _belongs(cause: Cause, step: str, device: str) -> bool:
    """Shown by the output, itself or in what follows from it; or by the facts, where the step cannot work with it."""
    finding = cause.finding
    if any(each.basis is not Basis.FACTS and each.severity is not Severity.NOTE for each in (finding, *cause.symptoms)):
        return True
    sure = finding.basis is Basis.FACTS and finding.severity is Severity.FAIL and finding.confidence is Confidence.SURE
    return sure and device == "npu" and step != "server" and cause.rule.area in AREAS_OF_NPU
