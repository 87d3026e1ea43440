"""The report of a watch as text, in one language. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from doctor.diagnosis import Cause
from doctor.finding import Confidence, Severity
from doctor.locale import Speak
from doctor.report.style import Style, padded, short
from doctor.report.text_format import steps
from doctor.text import cell_width
from doctor.watch.amounts import counted, size, span
from doctor.watch.history import Judged
from doctor.watch.judge import HOUR, Unit, Verdict
from doctor.watch.outlook import Group
from doctor.watch.pressure import SPAN, Signal
from doctor.watch.session import SEVERITY, Result
from doctor.watch.smaps import KINDS
from doctor.watch.stall import Stall

EVENTS_SHOWN = 12


def render(result: Result, style: Style, speak: Speak, language: str, *, host: str = "", problems: dict[str, str] | None = None, path: str = "", detail: int = 0) -> str:
    """The whole report. `path`: where the samples are; `problems`: what could not be looked at, by name."""
    return "\n".join(_lines(result, style, speak, language, host, problems or {}, path, detail)) + "\n"


def _lines(result: Result, style: Style, speak: Speak, language: str, host: str, problems: dict[str, str], path: str, detail: int) -> Iterator[str]:
    yield from style.lines(headline(result, speak), "   ", style.paint("strong", ""))
    if detail < 0:
        return
    yield from style.lines(speak("head", host=host or "-", time=span(result.end - result.begin), samples=result.samples, every=span(result.every)), "   ")
    if result.groups:
        yield ""
        yield from _table(result, style, speak, detail)
    if result.kinds:
        yield ""
        yield from _kinds(result, style, speak)
    yield ""
    yield from _stalls(result, style, speak)
    yield ""
    yield style.paint("strong", speak("pressure", time=span(min(SPAN, result.end - result.begin))))
    if result.pages.late or result.pages.failed:
        told = speak("pages", late=result.pages.late, failed=result.pages.failed, samples=result.samples, oldest=span(result.pages.oldest))
        yield from style.lines(told, "     ", "   ")
    yield from _signals(result, style, speak, detail)
    for number, cause in enumerate(_shown(result, detail), 1):
        if number == 1:
            yield ""
            yield style.paint("strong", speak("causes"))
        yield from _cause(number, cause, style, speak, language)
    if result.advice:
        yield ""
        yield style.paint("strong", speak("next"))
        for number, step in enumerate(result.advice, 1):
            yield from style.lines(speak(step.key, **step.values), "   ", f"{number}. ")
    yield from _events(result, style, speak, detail)
    if problems:
        yield ""
        yield style.paint("strong", speak("missing"))
        for name, why in problems.items():
            yield from style.lines(f"{name}: {short(why, 300)}", "     ", "   ")
    if path:
        yield ""
        yield from style.verbatim(speak("samples_in", path=path), "")


def _shown(result: Result, detail: int) -> list[Cause]:
    """Possible causes that rest on nothing but a version are not told where nothing grows or stands still."""
    return [cause for cause in result.causes if detail > 0 or cause.finding.severity > Severity.NOTE or cause.finding.confidence is not Confidence.POSSIBLE]


def headline(result: Result, speak: Speak) -> str:
    """The verdict in one sentence."""
    stalls = [stall for stall in result.stalls if not stall.harmless]
    if any(stall.end is None for stall in stalls):
        return speak(f"stall_{stalls[-1].kind}") + "."
    bad = [group for group in result.groups if group.verdict is result.verdict] if result.verdict.bad else []
    if bad:
        group = max(bad, key=lambda each: (-(each.worst.trend.seconds_left or 1e18), each.slope))
        trend = group.worst.trend
        what = f"{_role(group, speak)} ({speak('quantity_' + group.quantity)})"
        return speak(f"verdict_{group.verdict.value}", what=what, rate=counted(group.slope, trend.unit) + "/h", end=_end(group.worst, speak))
    windows = [each.trend.window for group in result.groups for each in group.members if group.quantity in ("private", "hbm")]
    if not windows:
        known = any(signal.state != "unknown" for signal in result.signals)
        return speak("verdict_metrics" if known else "verdict_nothing")
    if result.verdict is Verdict.TOO_SHORT:
        return speak("verdict_short", time=span(max(windows)), least=span(result.settings.least_suspect))
    return speak("verdict_none", time=span(max(windows)))


def _role(group: Group, speak: Speak) -> str:
    name = speak(f"role_{group.role}") if group.role != "other" or len(group.members) > 1 else group.worst.label
    return f"{name} {group.server}".rstrip()


def _end(each: Judged, speak: Speak) -> str:
    trend = each.trend
    if trend.seconds_left is None or trend.seconds_left_low is None:
        return ""
    return speak("end", what=speak(f"ends_{trend.ends}"), left=span(trend.seconds_left), soonest=span(trend.seconds_left_low))


def class_name(group: Group, speak: Speak) -> str:
    """What a class and its quantity are called."""
    return f"{_role(group, speak)}, {speak('quantity_' + group.quantity)}"


def class_text(group: Group, speak: Speak) -> str:
    """What is told of a class beside its verdict."""
    return ", ".join(_told(group, group.worst, speak))


def _table(result: Result, style: Style, speak: Speak, detail: int) -> Iterator[str]:
    groups = [group for group in result.groups if detail > 0 or group.quantity in ("private", "hbm") or group.verdict.bad]
    names = [class_name(group, speak) for group in groups]
    width = max(map(cell_width, names), default=0) + 2
    for group, name in zip(groups, names, strict=True):
        word = speak(group.verdict.value)
        state = style.paint(SEVERITY[group.verdict].name, word) if group.verdict in SEVERITY else word
        head = padded(name, width) + state + " " * max(1, 12 - cell_width(word))
        yield from style.lines(class_text(group, speak), " " * 4, head)


def _told(group: Group, worst: Judged, speak: Speak) -> Iterator[str]:
    trend = worst.trend
    yield counted(group.level, trend.unit)
    if group.shape:
        alive = [each for each in group.members if each.alive] or list(group.members)
        yield speak(f"shape_{group.shape}", count=len(alive), subject=worst.subject, bad=sum(each.trend.verdict.bad for each in group.members))
    if trend.verdict.bad:
        yield f"+{counted(group.slope, trend.unit)}/h"
        yield speak("interval", low=counted(trend.low, trend.unit), high=counted(trend.high, trend.unit))
        if trend.per_request is not None and trend.per_request > 0 and trend.unit is Unit.BYTES:
            yield speak("per_request", size=size(trend.per_request))
        if trend.idle_slope is not None:
            yield speak("idle_grows", size=counted(trend.idle_slope, trend.unit)) if trend.idle_slope > 0.3 * trend.slope else speak("idle_still")
        if trend.late_share is not None:
            yield speak("straight", share=f"{trend.late_share:.0%}")
        if trend.seconds_left is not None:
            yield _end(worst, speak)
    yield speak(f"why_{trend.why}")
    if trend.verdict is Verdict.NO_LEAK:
        largest = max(each.trend.detectable or 0.0 for each in group.members)
        yield speak("detectable", size=counted(largest, trend.unit))


def _kinds(result: Result, style: Style, speak: Speak) -> Iterator[str]:
    for pid, kinds in list(result.kinds.items())[:8]:
        told = ", ".join(f"{speak('kind_' + kind)} {size(kinds.by_kind[kind])}" for kind in KINDS if kinds.by_kind.get(kind))
        yield from style.lines(speak("kinds", kinds=told), "     ", f"{pid}: ")


def _stalls(result: Result, style: Style, speak: Speak) -> Iterator[str]:
    yield style.paint("strong", speak("stalls"))
    if not result.stalls:
        yield "   " + speak("no_stall")
    for stall in result.stalls[-20:]:
        yield from _stall(stall, style, speak)


def _stall(stall: Stall, style: Style, speak: Speak) -> Iterator[str]:
    when = datetime.fromtimestamp(stall.begin, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    lasted = speak("lasts") if stall.end is None else span(stall.end - stall.begin)
    yield from style.lines(f"{speak('stall_' + stall.kind)} ({lasted}{', ' + stall.detail if stall.detail else ''})", "     ", f"   {when}  ")
    if stall.evidence:
        yield from style.verbatim(speak("evidence_in", path=stall.evidence), "     ")


def _signals(result: Result, style: Style, speak: Speak, detail: int) -> Iterator[str]:
    unknown: dict[str, list[str]] = {}
    for signal in result.signals:
        if signal.state == "unknown" and detail <= 0:
            unknown.setdefault(speak(f"unknown_{signal.why}", what=signal.what), []).append(speak(f"signal_{signal.name}"))
            continue
        yield from _signal(signal, style, speak)
    for why, names in unknown.items():
        yield from style.lines(f"{speak('state_unknown')} ({why.strip()}): {', '.join(names)}", "     ", "   ")
    for signal in result.earlier:
        yield from style.lines(f"{speak('signal_' + signal.name)}: {speak('state_earlier', measured=signal.measured)}", "     ", "   ")


def _signal(signal: Signal, style: Style, speak: Speak) -> Iterator[str]:
    word = speak(f"state_{signal.state}")
    state = style.paint(signal.state.upper(), word) if signal.state in ("warn", "note") else word
    told = signal.measured if signal.state != "unknown" else speak(f"unknown_{signal.why}", what=signal.what)
    wanted = f" ({signal.wanted})" if signal.state in ("warn", "note") and signal.wanted else ""
    yield from style.lines(f"{told}{wanted}", "     ", f"   {padded(speak('signal_' + signal.name), 22)}{state}  ")


def _cause(number: int, cause: Cause, style: Style, speak: Speak, language: str) -> Iterator[str]:
    finding = cause.finding
    doubt = "" if finding.confidence is Confidence.SURE else f" ({speak(finding.confidence.word)})"
    head = f"{number}. {style.paint(finding.severity.name, speak(finding.severity.name))}{doubt}  "
    yield from style.lines(finding.title[language], "   ", head)
    if finding.found:
        yield from style.lines(f"{speak('found')}: {short(finding.found, 300)}", "     ", "   ")
    for index, fix in enumerate(finding.fixes):
        yield from style.lines(f"{speak('or_todo' if index else 'todo')}: {fix.title[language]} [{speak(fix.safety.value)}]", "     ", "   ")
        yield from steps(fix.steps, style, language, "   ")
    for symptom in cause.symptoms:
        yield from style.lines(f"{speak('explains')}: {short(symptom.title[language], 300)} [{symptom.rule}]", "     ", "   ")
    yield from style.lines(f"{finding.rule} · doctor explain {finding.rule}", "     ", "   ")


def _events(result: Result, style: Style, speak: Speak, detail: int) -> Iterator[str]:
    shown = result.events if detail > 0 else result.events[-EVENTS_SHOWN:]
    for index, (at, event) in enumerate(shown):
        if not index:
            yield ""
            yield style.paint("strong", speak("happened"))
        yield from style.lines(short(event, 300), "     ", f"   {datetime.fromtimestamp(at, timezone.utc).strftime('%m-%d %H:%M:%S')}  ")


def progress(result_verdict: Verdict, seconds: float, processes: int, memory: float, running: float | None, speak: Speak) -> str:
    """One line of what goes on."""
    told = "-" if running is None else f"{running:.0f}"
    return speak("progress", time=span(seconds), processes=processes, memory=size(memory), running=told, verdict=speak(result_verdict.value))


__all__ = ["HOUR", "class_name", "class_text", "headline", "progress", "render"]
