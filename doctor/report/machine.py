"""The sentences of a report that several formats say alike: the machine in one line, that nothing was found, the totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.locale import Speak
from doctor.report.model import HostSummary, Report
from doctor.report.style import short

_PRODUCTS = {"vllm-ascend": "vllm-ascend", "vllm": "vLLM", "torch": "torch", "torch-npu": "torch_npu"}


def line(report: Report, speak: Speak) -> str:
    """What was looked at, in one cleaned line."""
    host = report.host
    parts = [speak(host.kind) + " " + (host.label or "?"), *_size(report, speak), *_hardware(host, speak), *_software(host, speak)]
    return " · ".join(short(part, 200) for part in parts)


def nothing(report: Report, speak: Speak) -> str:
    """What it means that no cause was found."""
    kind, outcomes, lines = report.host.kind, report.summary.outcomes, report.examination.scan.lines
    if report.examination.first_error is not None:
        return speak("nothing_else_text", clear=outcomes.get("clear", 0), lines=lines)
    if outcomes.get("clear"):
        return speak(f"nothing_found_{kind}", clear=outcomes["clear"], lines=lines)
    return speak("nothing_looked_host" if kind == "host" else "nothing_looked_text" if lines else "nothing_looked_empty")


def totals(report: Report, speak: Speak) -> str:
    """The counts, those of suppressed causes apart."""
    counts: Mapping[str, int] = {**report.summary.outcomes, **report.summary.severities}
    text = speak("totals", rules=report.summary.rules, seconds=report.examination.seconds, **counts)
    return text + (" " + speak("totals_suppressed", count=len(report.suppressed)) if report.suppressed else "")


def _size(report: Report, speak: Speak) -> Iterator[str]:
    if report.host.kind == "text":
        yield speak("source_lines", lines=report.examination.scan.lines)


def _hardware(host: HostSummary, speak: Speak) -> Iterator[str]:
    yield from (part for part in (host.os, " ".join(part for part in (host.arch, host.cpu) if part), host.container) if part)
    for name, count in host.npus:
        yield f"{count} × {name}" if count else name
    if not host.npus and host.kind == "host":
        yield speak("npu_none" if host.npu_present is False else "npu_unknown") if not host.npu_present else "NPU"


def _software(host: HostSummary, speak: Speak) -> Iterator[str]:
    if host.driver:
        yield f"{speak('driver')} {host.driver}"
    if host.cann:
        yield f"CANN {host.cann}"
    if host.targets:
        packages = host.targets[0].packages
        yield from (f"{shown} {packages[name]}" for name, shown in _PRODUCTS.items() if name in packages)


__all__ = ["line", "nothing", "totals"]
