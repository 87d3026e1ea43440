"""A plan and an outcome as text for people, and the text that a user sends back. Pure; every text from outside is cleaned again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.diagnosis import Cause
from doctor.locale import Speak
from doctor.report.style import Style, short
from doctor.smoke.child import Ended
from doctor.smoke.events import Figure
from doctor.smoke.leftovers import Leftovers
from doctor.smoke.outcome import Outcome, Result, State
from doctor.smoke.plan import Plan

LAST_LINES = 12
"""Lines of a failed step's output that are shown where no rule explains it."""
LOAD_POINT = "load, now"
"""Figures that are a curve, not a result."""
FAILED_OUTPUT, PASSED_OUTPUT = 60, 12
"""Lines of a step's output in the text that is sent back. What a step that passed on an NPU said is new to everybody too."""
INDENT = "      "
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>torch|vllm)'")
"""What a wrong interpreter says."""
_PAINT = {State.PASSED: "faint", State.FAILED: "FAIL", State.SKIPPED: "SKIP", State.STOPPED: "BROKEN"}


def plan_lines(plan: Plan, speak: Speak, cpus: int) -> Iterator[str]:
    """What will be done, what it occupies and for how long."""
    yield speak("plan_head", level=plan.level, device=plan.device, python=plan.python or "-")
    yield "  " + speak("plan_steps", steps=", ".join(speak(f"step_{step.id}") for step in plan.running) or "-")
    for step in plan.steps:
        if step.skip is not None:
            yield "  " + speak("plan_left_out", step=speak(f"step_{step.id}"), why=reason_text(step.skip.key, step.skip.values, speak))
    yield "  " + speak("plan_takes", usual=span(plan.usual, speak), deadline=span(plan.deadline, speak))
    if plan.device == "npu" and plan.cards:
        yield "  " + speak("plan_cards", cards=",".join(map(str, plan.cards)))
    if plan.card_mb is not None:
        yield "  " + speak("plan_card_memory", mb=plan.card_mb)
    yield "  " + (speak("plan_model_memory") if plan.host_mb is None else speak("plan_host_memory", mb=plan.host_mb, cpus=cpus))
    if plan.device == "npu":
        yield "  " + speak("plan_npu_untested")


def span(seconds: float, speak: Speak) -> str:
    """A duration in round numbers."""
    return speak("minutes", count=seconds / 60) if seconds >= 120 else speak("seconds", count=seconds)


def reason_text(key: str, values: object, speak: Speak) -> str:
    known = dict(values) if isinstance(values, dict) else {}
    if "step" in known:
        known["step"] = speak(f"step_{known['step']}")
    return speak(key, **known)


def how_text(ended: Ended, speak: Speak, deadline: float = 0.0) -> str:
    """How a step's process ended, in words."""
    return speak(f"how_{ended.how.value}", exit=ended.exit, stage=ended.stage or "-", signal=ended.signal, seconds=deadline or ended.seconds)


def outcome_lines(outcome: Outcome, speak: Speak, style: Style, language: str, detail: int = 0) -> Iterator[str]:
    """The whole report. `detail`: -1 one line a step, 1 every check and figure."""
    for result in outcome.results:
        yield from step_lines(result, speak, style, language, detail)
    yield ""
    yield from style.lines(leftovers_text(outcome.leftovers, speak), "")
    counts = {state: sum(result.state is state for result in outcome.results) for state in State}
    key = "verdict_stopped" if counts[State.STOPPED] else "verdict_failed" if counts[State.FAILED] else "verdict_passed"
    yield speak(key, passed=counts[State.PASSED], failed=counts[State.FAILED], skipped=counts[State.SKIPPED])


def step_lines(result: Result, speak: Speak, style: Style, language: str, detail: int = 0) -> Iterator[str]:
    """One step: its state, what it measured, and where it failed the cause."""
    state = style.paint(_PAINT[result.state], speak(result.state.value))
    head = f"{state}  {speak(f'step_{result.step}')}"
    if result.reason is not None:
        yield f"{head}: {reason_text(result.reason.key, result.reason.values, speak)}"
        return
    assert result.ended
    took = speak("seconds", count=result.ended.seconds)
    yield f"{head} ({took})" + ("" if result.state is State.PASSED else ": " + how_text(result.ended, speak))
    if detail < 0:
        return
    for check in result.ended.checks:
        if not check.passed or detail > 0:
            name = f"{check.name} [{check.subject}]" if check.subject else check.name
            label = speak("passed") if check.passed else speak("check_failed")
            yield from style.lines(short(f"{name}: {check.detail}" if check.detail else name, 600), INDENT, INDENT + label + "  ")
    yield from (INDENT + text for text in figure_lines(result, speak, detail))
    if result.diagnosis is not None:
        yield from _diagnosed(result, speak, style, language)


def figure_lines(result: Result, speak: Speak, detail: int = 0) -> Iterator[str]:
    """The measured numbers of a step."""
    for figure in result.figures:
        if detail > 0 or figure.name != LOAD_POINT:
            yield figure_text(figure, speak)


def figure_text(figure: Figure, speak: Speak) -> str:
    name = f"{figure.name} [{figure.subject}]" if figure.subject else figure.name
    should = f" ({speak('should', expected=figure.expected)})" if figure.expected is not None else ""
    return f"{name}: {figure.value:g} {figure.unit}".rstrip() + should


def _diagnosed(result: Result, speak: Speak, style: Style, language: str) -> Iterator[str]:
    assert result.diagnosis and result.ended
    missing = _MISSING.search(result.ended.output)
    if missing and not result.diagnosis.causes:
        yield from style.lines(speak("hint_python", module=missing["module"]), INDENT + "  ", f"{INDENT}{style.paint('FAIL', speak('cause'))}  ")
        return
    for cause in result.diagnosis.causes:
        yield from _cause_lines(cause, speak, style, language)
    if result.diagnosis.first_error is not None:
        yield INDENT + speak("no_cause")
        evidence = result.diagnosis.first_error.evidence
        yield from style.lines(short(evidence.text, 600), INDENT, f"{INDENT}{speak('first_error')}  ")
    elif not result.diagnosis.causes:
        yield INDENT + speak("no_cause")
    if not result.diagnosis.causes:
        lines = [line for line in result.ended.output.splitlines() if line.strip()][-LAST_LINES:]
        if lines:
            yield INDENT + speak("last_lines")
            yield from (INDENT + "  " + short(line, 300) for line in lines)


def _cause_lines(cause: Cause, speak: Speak, style: Style, language: str) -> Iterator[str]:
    finding = cause.finding
    yield from style.lines(f"{finding.title[language]} [{finding.rule}]", INDENT, f"{INDENT}{style.paint('FAIL', speak('cause'))}  ")
    for evidence in finding.evidence[:2]:
        yield from style.lines(short(evidence.text, 240), INDENT + "  ", f"{INDENT}  {speak('seen')}  ")
    for fix in finding.fixes[:1]:
        yield from style.lines(fix.title[language], INDENT + "  ", f"{INDENT}  {speak('todo')}  ")
        for step in fix.steps:
            yield from style.lines(step.text[language], INDENT + "    ", INDENT + "    ")
    yield f"{INDENT}  doctor explain {finding.rule}"


def leftovers_text(left: Leftovers, speak: Speak) -> str:
    what = [*left.processes, *left.shared_memory, *(f"port {port}" for port in left.ports), *([left.folder] if left.folder else []), *left.card_memory]
    text = speak("left_something", what=", ".join(what)) if what else speak("left_nothing", cards=speak("and_cards") if left.looked_at_cards else "")
    if left.removed:
        text += "\n" + speak("left_removed", what=", ".join(left.removed[:5]) + (", …" if len(left.removed) > 5 else ""))
    return text


_PATH = re.compile(r"(?<![\w/.])(?:/[\w.@+~-]{1,100}){2,30}")
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_KEPT_PATH = re.compile(r"/(?:dev|usr/local/Ascend|site-packages/(?:torch|torch_npu|vllm|vllm_ascend))\b")


def anonymous(text: str, host: str) -> str:
    """Without the host's name, IP addresses and paths: of a path the last two parts stay, and what belongs to the software."""

    def shortened(match: re.Match[str]) -> str:
        path = match[0]
        kept = _KEPT_PATH.search(path)
        return path if path.startswith(("/dev/", "/usr/local/Ascend")) else f"…{path[kept.start() :]}" if kept else "…/" + path.rsplit("/", 1)[1]

    text = _ADDRESS.sub(lambda match: match[0] if match[0].startswith("127.") else "x.x.x.x", _PATH.sub(shortened, text))
    return text.replace(host, "HOST") if len(host) >= 4 and host != "localhost" else text


def feedback_lines(outcome: Outcome, machine: Iterator[tuple[str, str]], host: str, speak: Speak, language: str) -> Iterator[str]:
    """What a first user with an NPU sends back: the machine, every figure, check and note, the end of what each step printed. One block of Markdown."""
    yield speak("report_head")
    yield ""
    yield "```text"
    yield from (anonymous(line, host).replace("```", "'''") for line in _feedback(outcome, machine, speak, language))
    yield "```"


def _feedback(outcome: Outcome, machine: Iterator[tuple[str, str]], speak: Speak, language: str) -> Iterator[str]:
    for name, value in machine:
        yield f"{name}: {short(value, 300)}"
    plan = outcome.plan
    yield f"level {plan.level}, device {plan.device}, {len(plan.cards)} card(s), exit {outcome.exit_code}, {outcome.seconds:.0f} s"
    for result in outcome.results:
        yield ""
        yield from step_lines(result, speak, Style(), language, 1)
        if result.ended is None:
            continue
        yield from (INDENT + short(f"{note.name}: {note.detail}", 300) for note in result.ended.notes)
        shown = FAILED_OUTPUT if result.state is State.FAILED else PASSED_OUTPUT if plan.device == "npu" else 0
        printed = [line for line in result.ended.output.splitlines() if line.strip()][-shown:] if shown else []
        yield from ("    | " + short(line, 300) for line in printed)
    yield ""
    yield leftovers_text(outcome.leftovers, speak)
