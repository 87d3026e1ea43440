"""`doctor smoke`: whether this machine can infer, step by step."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from threading import Event as Flag
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from doctor.locale import Speak
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_host, rulebook
from doctor.text import clean, clean_line

if TYPE_CHECKING:
    from doctor.host import Host
    from doctor.smoke.events import Event, Line
    from doctor.smoke.outcome import Outcome, Result
    from doctor.smoke.plan import Plan, Step
    from doctor.smoke.request import Request, Seen

KEY_NAMES = ("VLLM_API_KEY",)
"""Variables that are read without being named. OPENAI_API_KEY is not: it may belong to somebody who is not this server."""


def run(options: Options, words: Sequence[str], plan_only: bool, feedback: bool, **given: Any) -> Answer:
    """Says what it will do, does it, and answers with what it found."""
    from doctor.smoke.plan import Refusal, plan
    from doctor.smoke.request import look
    from doctor.smoke.text import plan_lines
    from doctor.smoke.words import speaker

    speak = speaker(options.language)
    request = _request(options, words, given, speak)
    host = open_host(options, None, None)
    seen = look(host, request)
    try:
        planned = plan(request, seen)
    except Refusal as refusal:
        raise Refused(clean_line(speak(refusal.key, **refusal.values))) from None
    if plan_only:
        from doctor.smoke.jsonform import plan_json

        if options.as_json:
            return enveloped(options, smoke={"plan": plan_json(planned, speak)})
        return Answer("".join(clean(line) + "\n" for line in plan_lines(planned, speak, os.cpu_count() or 1)))
    if options.detail >= 0:
        for line in plan_lines(planned, speak, os.cpu_count() or 1):
            click.echo(clean(line), err=True)
    return _answer(options, _run(options, planned, host, speak), seen, host, speak, feedback)


def _request(options: Options, words: Sequence[str], given: Mapping[str, Any], speak: Speak) -> Request:
    from doctor.smoke.asked import cards_asked, flags_asked, python_asked, url_asked
    from doctor.smoke.plan import Refusal
    from doctor.smoke.request import Request

    try:
        return Request(
            level=given["level"], device=given["device"], cards=cards_asked(given["cards"]) if given["cards"] is not None else None, model=given["model"] or "",
            flags=flags_asked(words, given["model"] or ""), url=url_asked(given["url"] or ""), load=given["load"] or 0, load_seconds=given["load_seconds"],
            use_busy=given["use_busy"], python=python_asked(given["python"] or ""), key=_key(given["key_env"], given["key_file"], speak), scale=options.timeout_scale,
        )  # fmt: skip
    except Refusal as refusal:
        raise Refused(clean_line(speak(refusal.key, **refusal.values))) from None


def _key(name: str | None, path: str | None, speak: Speak) -> str:
    """From a file, from the variable that is named, or from those that are usual."""
    from doctor.smoke.asked import key_in_file

    if path:
        return key_in_file(path)
    if name and not os.environ.get(name):
        raise Refused(speak("refused_key", where=clean_line(name)))
    return next((os.environ[each] for each in ([name] if name else KEY_NAMES) if os.environ.get(each)), "")


def _run(options: Options, planned: Plan, host: Host, speak: Speak) -> Outcome:
    """Ctrl+C and SIGTERM stop it, cleaned up and reported; a second one does not wait for the report."""
    from doctor.smoke.run import run as run_plan

    stop = Flag()

    def stopped(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return run_plan(planned, host, rulebook(), _Told(speak, options.detail), stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Told:
    """Tells on standard error where the run is: a line that is written over on a terminal, a line a step elsewhere."""

    def __init__(self, speak: Speak, detail: int) -> None:
        self._speak, self._quiet, self._verbose = speak, detail < 0, detail > 0
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def began(self, step: Step) -> None:
        self._show(step, "…")

    def heard(self, step: Step, event: Event | Line) -> None:
        from doctor.smoke.events import Line, Stage

        if isinstance(event, Stage):
            self._show(step, event.name)
        elif isinstance(event, Line) and self._verbose:
            self._write(f"{event.text}\n")

    def ended(self, result: Result) -> None:
        if self._terminal:
            self._write("\r\x1b[K")
        if result.ended is not None:
            self._write(f"{self._speak(f'step_{result.step}')}: {self._speak(result.state.value)} ({result.ended.seconds:.0f} s)\n")

    def _show(self, step: Step, text: str) -> None:
        if self._terminal:
            self._write("\r\x1b[K" + f"{self._speak(f'step_{step.id}')}: {text}"[:78])

    def _write(self, text: str) -> None:
        if not self._quiet and sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def _answer(options: Options, outcome: Outcome, seen: Seen, host: Host, speak: Speak, feedback: bool) -> Answer:
    from doctor.bundle.results import keep_smoke
    from doctor.bundle.sendable import sendable
    from doctor.smoke.jsonform import outcome_json
    from doctor.smoke.machine import machine_lines
    from doctor.smoke.text import feedback_lines, outcome_lines

    told = outcome_json(outcome, speak, options.language, rulebook().rules)
    keep_smoke(told, os.environ, os.geteuid())
    if options.as_json:
        return enveloped(options, outcome.exit_code, smoke=told)
    if feedback:
        told_back = feedback_lines(outcome, machine_lines(host, seen), host.label, speak, options.language)
        return Answer(sendable("".join(clean(line) + "\n" for line in told_back), host), outcome.exit_code)
    lines = outcome_lines(outcome, speak, options.style, options.language, options.detail)
    return Answer("".join(line + "\n" for line in lines), outcome.exit_code)
