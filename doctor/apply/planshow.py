"""Plans, results and the history as text and as JSON, for the command line. Text from outside is cleaned by the style."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doctor.apply.journal import Transaction
from doctor.apply.making import Applied, Outcome
from doctor.apply.plan import FixPlan, Plan, StepPlan
from doctor.apply.planning import Fixable
from doctor.fix import kind_of
from doctor.locale import Speak
from doctor.report.style import Style
from doctor.text import clean_line

INDENT = "  "


def list_lines(found: Sequence[Fixable], speak: Speak, style: Style, language: str) -> Iterator[str]:
    """What could be done, a line of the cause and one for each of its fixes."""
    if not found:
        yield speak("nothing_found")
    last = None
    for item in found:
        if item.finding is not last:
            last = item.finding
            subject = f" [{clean_line(item.finding.subject)}]" if item.finding.subject else ""
            yield from style.lines(item.finding.title[language] + subject, INDENT * 2, style.paint(item.finding.severity.word.upper(), item.finding.severity.word.upper()) + " ")
        how = speak("can", name=item.name) if item.does else speak("already_so") if item.plan.already else speak("by_hand", rule=item.finding.rule)
        yield from style.lines(f"{item.plan.title[language]} ({speak(item.plan.safety.value)}): {how}", INDENT * 2)
        for why in item.plan.blocked[:1]:
            yield from style.lines(speak("step_blocked", why=why[language]), INDENT * 3)


def plan_lines(plan: Plan, speak: Speak, style: Style, language: str) -> Iterator[str]:
    """The whole plan."""
    head = speak("plan_of", machine=plan.machine) if plan.root == "/" else speak("plan_root", root=plan.root, machine=plan.machine)
    yield style.paint("strong", clean_line(head))
    for fix in plan.fixes:
        yield ""
        yield from _fix_lines(fix, speak, style, language)
    yield ""
    yield f"{speak('plan_hash')}: {plan.hash}"


def _fix_lines(fix: FixPlan, speak: Speak, style: Style, language: str) -> Iterator[str]:
    subject = f" [{clean_line(fix.subject)}]" if fix.subject else ""
    yield from style.lines(f"{speak('cause')}: {fix.rule}{subject}  {fix.cause[language]}", INDENT, "")
    yield from style.lines(f"{speak('fix_line')}: {fix.fix} ({speak(fix.safety.value)})  {fix.title[language]}", INDENT, "")
    for step in fix.steps:
        yield ""
        yield from _step_lines(step, fix, speak, style, language)
    if not fix.steps or fix.blocked:
        yield INDENT + speak("by_hand_words")
        for words in fix.shown:
            yield from style.verbatim(words[language], INDENT * 2)
    if fix.verify:
        yield from style.lines(f"{speak('verify')}: {fix.verify[language]}", INDENT * 2, INDENT)


def _step_lines(step: StepPlan, fix: FixPlan, speak: Speak, style: Style, language: str) -> Iterator[str]:
    yield from style.lines(f"{speak('step', name=step.key)}: {step.title[language]}", INDENT * 2, INDENT)
    if step.blocked is not None:
        yield from style.lines(speak("step_blocked", why=step.blocked[language]), INDENT * 2)
        if step.host_commands:
            yield INDENT * 2 + speak("on_the_host")
            for command in step.host_commands:
                yield from style.verbatim(command, INDENT * 3)
        for note in step.notes:
            yield from style.lines(f"{speak('note')}: {note.text[language]}", INDENT * 2)
        return
    if step.already:
        yield INDENT * 2 + speak("step_already")
    for change in step.changes:
        for argv in change.commands():
            yield from style.verbatim("$ " + shlex.join(argv), INDENT * 2)
        for line in change.diff().splitlines():
            yield from style.verbatim(line, INDENT * 2)
    for note in step.notes:
        label = style.paint("WARN", speak("conflict")) if note.conflict else speak("note")
        yield from style.lines(note.text[language], INDENT * 3, f"{INDENT * 2}{label}: ")
    if step.changes:
        told = "; ".join(f"{one.name} ({one.pid}): {one.how[language]}" for one in step.disturbs) or speak("disturbs_nothing")
        undo = step.undo[language] if step.undo else speak("undo_default")
        verify = speak(f"verify_{step.effect.value}", rule=fix.rule)
        for name, text in (("needs", ", ".join(_needs(step, speak)) or "-"), ("disturbs", told), ("undo", undo), ("verify", verify)):
            yield from style.lines(text, INDENT * 3, f"{INDENT * 2}{speak(name)}: ")


def _needs(step: StepPlan, speak: Speak) -> Iterator[str]:
    if step.needs.root:
        yield speak("need_root")
    if step.needs.network:
        yield speak("need_network")
    for what in step.needs.restart:
        yield speak("need_restart", what=clean_line(what))
    if step.needs.reboot:
        yield speak("need_reboot")


def result_line(applied: Applied, speak: Speak) -> str:
    """What became of one fix, in one sentence."""
    name = f"{applied.rule}/{applied.fix}"
    until = speak(f"until_{applied.effect.value}", why=clean_line(applied.why)) if applied.outcome.value == "pending" else ""
    return speak(f"result_{applied.outcome.value}", name=name, why=clean_line(applied.why), transaction=applied.transaction, until=until)


def history_lines(transactions: Sequence[Transaction], speak: Speak, style: Style) -> Iterator[str]:
    """Every transaction with its changes, oldest first."""
    if not transactions:
        yield speak("history_none")
    for one in transactions:
        state = f"{speak('state_undone')} {one.undone}" if one.undone else _state(one, speak)
        fixes = ", ".join(str(name) for name in one.told.get("fixes", ()))
        yield from style.lines(f"{fixes}  {_who(one)}  {state}" + (f" ({one.why})" if one.why else ""), INDENT, f"{one.ident}  ")
        for made in one.changes:
            change = made.change
            told = change.get("path") or change.get("name") or change.get("kind")
            values = f": {' '.join(sorted(set(map(str, change['before'].values()))))} -> {change['after']}" if change.get("kind") == "kernel" else ""
            yield from style.lines(f"{made.number}. {told}{values}", INDENT * 2)


def _state(one: Transaction, speak: Speak) -> str:
    known = not one.outcome or one.outcome in {outcome.value for outcome in Outcome}
    return speak(f"state_{one.outcome or 'interrupted'}", transaction=one.ident) if known else one.outcome


def _who(one: Transaction) -> str:
    who = one.told.get("who", {})
    return str(who.get("sudo_user") or who.get("user") or f"uid {who.get('uid')}")


def plan_json(plan: Plan, language: str) -> dict[str, Any]:
    """The plan by the schema that `doctor schema` prints."""
    return {
        "hash": plan.hash,
        "root": plan.root,
        "machine": plan.machine,
        "applicable": plan.applicable,
        "fixes": [_fix_json(fix, language) for fix in plan.fixes],
    }


def _fix_json(fix: FixPlan, language: str) -> dict[str, Any]:
    return {
        "rule": fix.rule, "fix": fix.fix, "subject": fix.subject, "title": fix.title[language], "safety": fix.safety.value,
        "applicable": fix.applicable, "already": fix.already, "effect": fix.effect.value,
        "steps": [_step_json(step, language) for step in fix.steps],
        "by_hand": [words[language] for words in fix.shown],
        "verify": fix.verify[language] if fix.verify else None,
    }  # fmt: skip


def _step_json(step: StepPlan, language: str) -> dict[str, Any]:
    return {
        "key": step.key, "kind": kind_of(step.action), "title": step.title[language], "already": step.already,
        "blocked": step.blocked[language] if step.blocked else None,
        "host_commands": list(step.host_commands),
        "changes": [
            {"kind": change.KIND, "subject": change.subject, "commands": [list(argv) for argv in change.commands()], "diff": change.diff()}
            for change in step.changes
        ],
        "needs": {"root": step.needs.root, "network": step.needs.network, "restart": list(step.needs.restart), "reboot": step.needs.reboot},
        "disturbs": [{"pid": one.pid, "name": one.name, "how": one.how[language]} for one in step.disturbs],
        "effect": step.effect.value,
        "notes": [{"text": note.text[language], "conflict": note.conflict} for note in step.notes],
        "after": list(step.after),
    }  # fmt: skip


def fixable_json(item: Fixable, language: str) -> dict[str, Any]:
    finding, plan = item.finding, item.plan
    return {
        "name": item.name, "rule": finding.rule, "fix": plan.fix, "subject": finding.subject, "severity": finding.severity.word,
        "cause": finding.title[language], "title": plan.title[language], "safety": plan.safety.value, "applicable": plan.applicable,
        "already": plan.already, "blocked": [why[language] for why in plan.blocked],
    }  # fmt: skip


def applied_json(applied: Applied) -> dict[str, Any]:
    return {
        "rule": applied.rule, "fix": applied.fix, "outcome": applied.outcome.value, "transaction": applied.transaction or None,
        "why": applied.why, "effect": applied.effect.value,
    }  # fmt: skip


def transaction_json(one: Transaction) -> Mapping[str, Any]:
    return {
        "transaction": one.ident, "time": one.time, "who": one.told.get("who"), "plan": one.told.get("plan"), "root": one.told.get("root"),
        "fixes": list(one.told.get("fixes", ())), "outcome": one.outcome or "interrupted", "why": one.why, "undone": one.undone or None,
        "changes": [
            {"number": made.number, "step": made.step, "done": made.done, "put_back": made.put_back, "change": made.change} for made in one.changes
        ],
    }  # fmt: skip


__all__ = [
    "applied_json", "fixable_json", "history_lines", "list_lines", "plan_json", "plan_lines", "result_line", "transaction_json",
]  # fmt: skip
