"""`doctor fix`: what could be done, the plan of it, and its applying."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from doctor.locale import Speak, room_speaker
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_host, open_logs, rulebook, selection
from doctor.text import clean_line

if TYPE_CHECKING:
    from doctor.apply.engine import Applied, Event, Plan, Site
    from doctor.apply.planning import Looked, NotPlannable
    from doctor.logscan.scan import Chunk

UNVERIFIED, CANNOT = 4, 3


def run(
    options: Options, names: Sequence[str], recorded: str | None, root: str | None, python: str | None, logs: Sequence[str],
    applying: bool, yes: bool, plan_hash: str, script: str, script_format: str, without: Sequence[str], **chosen: Any,
) -> Answer:  # fmt: skip
    """Lists, plans, writes a script, or applies."""
    from doctor.apply.planning import NotPlannable, make_plan

    speak = speaker(options)
    if (applying or script) and not names:
        raise Refused(speak("refused_names"))
    if applying and recorded:
        raise Refused(speak("refused_recorded"))
    place = site(options, root, python, logs, chosen)
    looked = _looked(options, place, recorded, root)
    if not names:
        return _listed(options, speak, looked)
    try:
        plan = make_plan(looked, names)
        switched = _switched_off(plan, without, speak)
        plan = make_plan(looked, names, switched) if switched else plan
    except NotPlannable as problem:
        return _not_plannable(options, speak, problem)
    if script:
        return _scripted(options, speak, plan, script, script_format)
    if applying:
        return _applied(options, speak, place, plan, tuple(names), yes, plan_hash, switched)
    asked = [word for option, globs in (("--only", options.only), ("--skip", options.skip)) for glob in globs for word in (option, glob)]
    given = [*asked, *(("--root", root) if root else ()), *(("--python", python) if python else ()), *(word for path in logs for word in ("--log", path))]
    return _planned(options, speak, plan, [*names, *given, *_chosen_words(chosen, without)])


def speaker(options: Options) -> Speak:
    from doctor.apply.words import WORDS

    return room_speaker(WORDS, options.language)


def site(options: Options, root: str | None, python: str | None, logs: Sequence[str], chosen: dict[str, Any]) -> Site:
    """The place on which fixes are made."""
    from doctor.apply.engine import Site
    from doctor.apply.kind import Choices
    from doctor.logscan.sources import all_chunks

    if root is not None and not os.path.isdir(root):
        raise Refused(options.speak("no_root", folder=clean_line(root)))
    packages = tuple(os.path.abspath(path) for path in chosen["packages"])
    to, wheels = chosen["to"], chosen["wheels"]
    choices = Choices(
        form=chosen["form"] or "",
        to=os.path.abspath(to) if to else "",
        unit=chosen["unit"],
        package=packages[0] if packages else "",
        packages=packages,
        wheels=os.path.abspath(wheels) if wheels else "",
        online=chosen["online"],
        pids=tuple(chosen["pids"]),
    )

    def chunks() -> Iterable[Chunk]:
        return all_chunks(open_logs(logs), [], lambda size: None) if logs else ()

    book = rulebook()
    return Site(book, os.path.abspath(root) if root else "/", python, choices, chunks, options.timeout_scale, selection(options, book))


def _looked(options: Options, place: Site, recorded: str | None, root: str | None) -> Looked:
    from doctor.apply.planning import Looked
    from doctor.report.progress import Progress

    with Progress(options.speak, options.detail) as progress:
        if not recorded:
            return place.look(seen=progress.heard)
        from doctor.examine import examine_host

        host = open_host(options, recorded, root)
        found = examine_host(host, place.book, place.selection, python=place.python, chunks=place.logs(), heard=progress.heard)
        return Looked(found, host, "/", 0, place.choices)


def _listed(options: Options, speak: Speak, looked: Looked) -> Answer:
    from doctor.apply.planning import fixable
    from doctor.apply.planshow import fixable_json, list_lines

    found = fixable(looked)
    if options.as_json:
        return enveloped(options, fixable=[fixable_json(item, options.language) for item in found])
    return _text(list_lines(found, speak, options.style, options.language))


def _not_plannable(options: Options, speak: Speak, problem: NotPlannable) -> Answer:
    about, why = clean_line(problem.name), clean_line(problem.why)
    if problem.kind == "clear":
        told = speak("clear", about=about)
        return enveloped(options, fix={"applied": [], "clear": about}) if options.as_json else Answer(told + "\n")
    told = speak(f"refused_{problem.kind}", about=about, why=why)
    if problem.kind != "unjudged":
        raise Refused(told)
    if options.as_json:
        return enveloped(options, CANNOT, error={"kind": "unjudged", "message": told})
    click.echo(f"doctor: {told}", err=True)
    return Answer("", CANNOT)


def _switched_off(plan: Plan, without: Sequence[str], speak: Speak) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for name in without:
        rule, _, key = name.rpartition("/")
        here = [(fix.rule, step.key) for fix in plan.fixes for step in fix.steps if step.key == key and rule in ("", fix.rule)]
        if not here:
            raise Refused(speak("refused_without", about=clean_line(name)))
        found += here
    return tuple(found)


def _chosen_words(chosen: dict[str, Any], without: Sequence[str]) -> list[str]:
    """The options again as they were given, so that the command that applies the plan makes the same one."""
    words = [word for name in ("form", "to", "unit", "wheels") if chosen[name] for word in (f"--{name}", str(chosen[name]))]
    words += [word for path in chosen["packages"] for word in ("--package", path)]
    words += [word for pid in chosen["pids"] for word in ("--pid", str(pid))]
    words += ["--online"] if chosen["online"] else []
    return words + [word for step in without for word in ("--without", step)]


def _planned(options: Options, speak: Speak, plan: Plan, words: Sequence[str]) -> Answer:
    from doctor.apply.planshow import plan_json, plan_lines

    if options.as_json:
        return enveloped(options, plan=plan_json(plan, options.language))
    lines = list(plan_lines(plan, speak, options.style, options.language))
    if all(fix.already for fix in plan.fixes):
        lines += _already(plan, speak)
    elif plan.applicable:
        lines += [speak("changes_nothing"), speak("to_apply", command=shlex.join(("doctor", "fix", *map(clean_line, words), "--apply")))]
    else:
        lines += [speak("changes_nothing"), speak("not_applicable")]
    return _text(lines)


def _already(plan: Plan, speak: Speak) -> list[str]:
    """That nothing is to be done, and what the cause that is still found waits for."""
    waiting = {(step.effect.value, fix.rule) for fix in plan.fixes for step in fix.steps if step.effect.value != "now"}
    return [speak("all_already"), *(f"{speak('verify')}: {speak(f'verify_{effect}', rule=rule)}" for effect, rule in sorted(waiting))]


def _scripted(options: Options, speak: Speak, plan: Plan, path: str, kind: str) -> Answer:
    from doctor.apply.script import ansible_playbook, shell_script

    if not plan.applicable:
        raise Refused(speak("all_already") if all(fix.already for fix in plan.fixes) else speak("not_applicable"))
    text = shell_script(plan, options.language) if kind == "sh" else ansible_playbook(plan, options.language)
    if path == "-":
        return enveloped(options, output=text) if options.as_json else Answer(text)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o700 if kind == "sh" else 0o600)
    except FileExistsError:
        raise Refused(speak("refused_exists", about=clean_line(path))) from None
    except OSError as problem:
        raise Refused(f"{clean_line(path)}: {problem.strerror}") from None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    told = speak("script_written", path=clean_line(path))
    return enveloped(options, script={"path": path, "format": kind, "plan": plan.hash}) if options.as_json else Answer(told + "\n")


def _applied(
    options: Options, speak: Speak, place: Site, plan: Plan, names: tuple[str, ...], yes: bool, plan_hash: str, without: tuple[tuple[str, str], ...]
) -> Answer:
    from doctor.apply.engine import NotPlannable, RefusedError, apply_plan, refuse_unfit
    from doctor.apply.planshow import applied_json, plan_json, result_line

    if all(fix.already for fix in plan.fixes):
        return _outcome(options, _already(plan, speak), {"plan": plan_json(plan, options.language), "fix": {"applied": []}}, 0)
    try:
        refuse_unfit(plan, place)
        reviewed = _confirmed(options, speak, plan, yes, plan_hash)
        if not reviewed:
            return _outcome(options, [speak("declined")], {"fix": {"applied": [], "declined": True}}, 0)
        with isolated():
            done = apply_plan(place, names, reviewed, lambda event: _heard(options, speak, event), without)
    except RefusedError as problem:
        raise Refused(refusal(speak, problem)) from None
    except NotPlannable as problem:
        return _not_plannable(options, speak, problem)
    lines = [line for one in done for line in (result_line(one, speak), *_undo_hint(one, speak))]
    return _outcome(options, lines, {"fix": {"applied": [applied_json(one) for one in done]}}, _code(done))


def _code(done: Sequence[Applied]) -> int:
    return 0 if all(one.outcome.value in ("fixed", "nothing") for one in done) else UNVERIFIED


def _undo_hint(one: Applied, speak: Speak) -> list[str]:
    return [speak("undo_with", transaction=one.transaction)] if one.outcome.value in ("fixed", "pending") else []


def refusal(speak: Speak, problem: Any) -> str:
    """Why nothing was changed, in words."""
    return speak(f"refused_{problem.kind}", about=clean_line(problem.about) or "?")


def _confirmed(options: Options, speak: Speak, plan: Plan, yes: bool, plan_hash: str) -> str:
    """The hash of the plan that somebody has agreed to, "" where he did not. Asks on the terminal."""
    from doctor.apply.planshow import plan_lines
    from doctor.fix import Safety

    if yes and plan_hash:
        return plan_hash
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()):
        raise Refused(speak("refused_hash"))
    if plan_hash and plan_hash != plan.hash:
        return plan_hash  # refused as stale, with the hash of now
    click.echo("\n".join(plan_lines(plan, speak, options.style, options.language)), err=True)
    risky = list(dict.fromkeys(fix.rule for fix in plan.fixes if fix.safety is Safety.ASK and not fix.already))
    for rule in risky:
        if _asked(speak("ask_typed", rule=rule)) != rule:
            return ""
    if not risky and _asked(speak("ask_safe")).lower() not in ("y", "yes", "是"):
        return ""
    return plan.hash


def _asked(question: str) -> str:
    click.echo(question, nl=False, err=True)
    return sys.stdin.readline().strip()


@contextlib.contextmanager
def isolated() -> Any:
    """Programs may not stop a change half way through the keyboard's suspend or a closed terminal; an interrupt goes back first."""
    import signal

    kept = {sign: signal.signal(sign, signal.SIG_IGN) for sign in (signal.SIGHUP, signal.SIGTSTP)}
    kept[signal.SIGTERM] = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        for sign, handler in kept.items():
            signal.signal(sign, handler)


def _heard(options: Options, speak: Speak, event: Event) -> None:
    if options.detail >= 0 and not options.as_json and event.what in ("change", "verify", "putting back"):
        click.echo("doctor: " + speak(f"event_{event.what}", subject=clean_line(event.subject), rule=event.rule), err=True)


def _outcome(options: Options, lines: Sequence[str], told: dict[str, Any], code: int) -> Answer:
    return enveloped(options, code, **told) if options.as_json else _text(lines, code)


def _text(lines: Iterable[str], code: int = 0) -> Answer:
    return Answer("".join(line + "\n" for line in lines), code)
