"""The two lines above the list: what the machine is, and the counts or how far the examination is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from doctor import __version__
from doctor.locale import Speak
from doctor.report.style import short
from doctor.text import cell_width, truncate
from doctor.tui.detail import STATE_STYLES
from doctor.tui.rows import Known, by_area, findings_of
from doctor.tui.watch import Watch

if TYPE_CHECKING:
    from doctor.report.model import HostSummary, Report

SLOW = 0.5
"""Seconds after which a look at the host is named."""

BAR = 20
"""Cells of the progress bar."""


def machine(report: Report | None, label: str, speak: Speak, width: int) -> Content:
    """As many parts as fit, the most telling first."""
    parts = [f"doctor {__version__}", *(_parts(report.host, report, speak) if report else [short(label, 60)])]
    line, rest = parts[0], parts[1:]
    for part in rest:
        longer = f"{line}  {part}"
        if cell_width(longer) > width:
            break
        line = longer
    if line == parts[0] and rest:
        line = truncate(f"{line}  {rest[0]}", width, "...")
    return Content.assemble((line[: len(parts[0])], "bold"), line[len(parts[0]) :])


def _parts(host: HostSummary, report: Report, speak: Speak) -> Iterator[str]:
    yield short(host.label or "?", 60)
    if host.kind == "text":
        yield speak("source_lines", lines=report.examination.scan.lines)
    for name, count in host.npus:
        yield short(f"{count} x {name}" if count else name, 40)
    if not host.npus and host.kind == "host":
        yield "NPU" if host.npu_present else speak("npu_none" if host.npu_present is False else "npu_unknown")
    if host.driver:
        yield f"{speak('driver')} {short(host.driver, 30)}"
    if host.cann:
        yield f"CANN {short(host.cann, 30)}"
    packages = host.targets[0].packages if host.targets else {}
    yield from (f"{name} {short(packages[name], 30)}" for name in ("vllm-ascend", "vllm", "torch-npu") if name in packages)
    yield from (short(part, 60) for part in (host.os, host.arch, host.container) if part)


def counts(report: Report | None, watch: Watch | None, before: Known | None, speak: Speak, width: int) -> Content:
    """The counts of the report; while rules run, how far they are and what they wait for."""
    if watch is not None:
        return _progress(watch, speak, width)
    if report is None:
        return Content("")
    parts = [*_states(report, speak)]
    if before is not None:
        after = findings_of(report)
        parts.append(Content(speak("count_new", count=len(after - before), gone=len(before - after))))
    outcomes = report.summary.outcomes
    for key, outcome in (("count_skipped", "skipped"), ("count_passed", "clear"), ("count_broken", "broken")):
        if outcomes.get(outcome) or outcome != "broken":
            parts.append(Content.styled(speak(key, count=outcomes.get(outcome, 0)), "bold" if outcome == "broken" else "dim"))
    parts.append(Content.styled(speak("checked", time=_clock(report.run.started), seconds=report.examination.seconds), "dim"))
    line = Content("  ").join(parts)
    while line.cell_length > width and len(parts) > 1:
        parts.pop()
        line = Content("  ").join(parts)
    return line


def areas(report: Report | None, speak: Speak, width: int) -> Content:
    """How many causes lie in each area, with the key that shows them alone."""
    found = by_area(report) if report is not None else {}
    line = Content.styled(speak("areas"), "dim") if found else Content("")
    for number, (area, count) in enumerate(found.items(), 1):
        longer = Content.assemble(line, "  ", (str(number), "bold $accent") if number < 10 else "", f" {area} {count}")
        if longer.cell_length > width:
            break
        line = longer
    return line


def _clock(started: str) -> str:
    """ISO 8601 in UTC as the time of day here."""
    try:
        return datetime.fromisoformat(started).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return started


def _states(report: Report, speak: Speak) -> Iterator[Content]:
    for state in ("FAIL", "WARN", "NOTE"):
        count = report.summary.severities.get(state.lower(), 0)
        yield Content.styled(f"{count} {speak(state)}", STATE_STYLES[state] if count else "dim")


def _progress(watch: Watch, speak: Speak, width: int) -> Content:
    done, total, doing = len(watch.verdicts), watch.total, watch.doing
    filled = BAR * done // total if total else 0
    head = speak("checking", done=done, total=total, seconds=watch.seconds) if total else speak("starting")
    parts = ["#" * filled + "." * (BAR - filled), head]
    if watch.bytes_read > 1_000_000:
        parts.append(speak("reading", megabytes=watch.bytes_read // 1_000_000))
    if doing is not None and doing[1] >= SLOW:
        parts.append(speak("doing", what=short(doing[0], 60), seconds=doing[1]))
    return Content(truncate("  ".join(parts), width, "..."))


__all__ = ["areas", "counts", "machine"]
