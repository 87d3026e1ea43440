"""A plan, its steps and what became of them as styled text for the fix screen. Texts from outside are cleaned and never taken for markup."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from doctor.apply.words import WORDS as APPLY_WORDS
from doctor.locale import Speak, room_speaker
from doctor.report.style import Style
from doctor.said import said
from doctor.text import cell_width, clean, clean_line
from doctor.tui.fixjob import Making, Off, Planned, Told, pulled
from doctor.tui.words import WORDS

if TYPE_CHECKING:
    from doctor.apply.plan import FixPlan, StepPlan

LABEL, TITLE, WARNING, FAINT = "dim", "bold", "bold $text-warning", "dim"

DIFF_STYLES = {"+": "$text-success", "-": "$text-error", "@": "dim", "$": "bold"}
"""By the first character, which stands there too."""

LONGEST = 2000
"""Lines of a diff that are shown; the whole is in `doctor fix`."""

FOLD = "      "
"""Before what goes on from the line above; a line of a diff begins with its mark or one blank, and is cut only where it is longer than the screen."""

Pair = tuple["FixPlan", "StepPlan"]


def fix_speaker(language: str) -> Speak:
    """The words of fixes, else those of the app."""
    return room_speaker({**WORDS, **APPLY_WORDS}, language)


def sentence(told: Told, say: Speak) -> str:
    language = say("language_code")
    return clean_line(say(told.key, **{name: said(str(value), language) if name == "why" else value for name, value in told.values.items()}))


def steps_of(planned: Planned) -> list[Pair]:
    """Every step with its fix, those that are off as well."""
    return [(fix, step) for fix in planned.whole.fixes for step in fix.steps] if planned.whole is not None else []


class PlanView:
    """Says one plan in one language."""

    def __init__(self, planned: Planned, off: Off, language: str) -> None:
        self.planned, self.off, self.language = planned, off, language
        self.say = fix_speaker(language)
        self.gone = pulled(planned.whole, off) if planned.whole is not None else off

    def step_line(self, number: int, pair: Pair) -> Content:
        """One step in the list: whether it is on, and what it does."""
        fix, step = pair
        key = (fix.rule, step.key)
        mark = "[ ]" if key in self.off else "[-]" if key in self.gone else "[x]"
        state = "fix_off" if key in self.off else "fix_pulled" if key in self.gone else "fix_blocked" if step.blocked else "fix_already" if step.already else ""
        told = f"  ({self.say(state)})" if state else ""
        return Content.assemble(f"{mark} {number}. {clean_line(step.title[self.language])}", (told, WARNING if step.blocked else FAINT))

    def _now(self, pair: Pair) -> Pair:
        """The step as it is planned without those that are off."""
        fix, step = pair
        plan = self.planned.plan
        same = [(one, each) for one in (plan.fixes if plan else ()) for each in one.steps if (one.rule, one.subject, each.key) == (fix.rule, fix.subject, step.key)]
        return same[0] if same else pair

    def about(self, pair: Pair | None, width: int) -> Content:
        """What a step needs, disturbs, how it is undone and verified; what to do by hand where there is no step."""
        return _joined(self._about(pair, max(20, width)))

    def _about(self, pair: Pair | None, width: int) -> Iterator[Content]:
        style = Style(width)
        if pair is None:
            yield from self._by_hand(self.planned.whole.fixes if self.planned.whole else (), style)
            return
        fix, step = self._now(pair)
        if step.blocked is not None:
            yield from _styled(style.lines(self.say("step_blocked", why=step.blocked[self.language]), ""), WARNING)
        for note in step.notes:
            yield from self._labelled("conflict" if note.conflict else "note", note.text[self.language], style, WARNING if note.conflict else "")
        if step.changes:
            for label, text in self._effects(fix, step):
                yield from self._labelled(label, text, style)
        elif step.blocked is None:
            yield from _styled(style.lines(self.say("step_already"), ""))
        if fix.blocked:
            yield from self._by_hand((fix,), style)
        elif fix.verify is not None:
            yield from self._labelled("", fix.verify[self.language], style, name=room_speaker({}, self.language)("verify"))

    def _effects(self, fix: FixPlan, step: StepPlan) -> Iterator[tuple[str, str]]:
        needs = [self.say(f"need_{name}") for name in ("root", "network", "reboot") if getattr(step.needs, name)]
        needs += [self.say("need_restart", what=clean_line(what)) for what in step.needs.restart]
        told = "; ".join(f"{one.name} ({one.pid}): {one.how[self.language]}" for one in step.disturbs)
        yield "needs", ", ".join(needs) or "-"
        yield "disturbs", told or self.say("disturbs_nothing")
        yield "undo", step.undo[self.language] if step.undo else self.say("undo_default")
        yield "verify", self.say(f"verify_{step.effect.value}", rule=fix.rule)

    def _by_hand(self, fixes: tuple[FixPlan, ...], style: Style) -> Iterator[Content]:
        for fix in fixes:
            yield Content.styled(self.say("by_hand_words"), LABEL)
            for words in fix.shown:
                yield from _styled(style.lines(words[self.language], "  "))

    def _labelled(self, label: str, text: str, style: Style, paint: str = "", name: str = "") -> Iterator[Content]:
        name = f"{name or self.say(label)}: "
        for index, line in enumerate(style.lines(text, "  ", name)):
            head, rest = (name, line[len(name) :]) if not index and line.startswith(name) else ("", line)
            yield Content.assemble((head, LABEL), (rest, paint))

    def difference(self, pair: Pair | None, width: int) -> Content:
        """The exact commands and diffs of a step; what is longer than a line goes on below it, further to the right."""
        if pair is None:
            return Content("")
        fix, step = self._now(pair)
        head = [Content.styled(f"{fix.rule}/{fix.fix}  {self.say('step', name=step.key)}", LABEL)]
        lines = list(self.changes(step))
        cut = [Content.styled(self.say("fix_cut", count=len(lines) - LONGEST), LABEL)] if len(lines) > LONGEST else []
        return Content("\n").join([*head, *(Content.styled(_folded(line, max(20, width)), DIFF_STYLES.get(line[:1], "")) for line in lines[:LONGEST]), *cut])

    def changes(self, step: StepPlan) -> Iterator[str]:
        """Line by line; commands begin with "$ "."""
        for change in step.changes:
            yield from ("$ " + clean_line(shlex.join(argv)) for argv in change.commands())
            yield from clean(change.diff()).expandtabs(4).splitlines()
        if step.host_commands:
            yield self.say("on_the_host")
            yield from ("$ " + line for command in step.host_commands for line in clean(command).splitlines())

    def commands(self) -> str:
        """The whole plan's commands and diffs, for copying."""
        plan = self.planned.plan or self.planned.whole
        return "\n".join(line for step in (plan.steps if plan else ()) for line in self.changes(step))


def progress(making: Making, say: Speak, width: int) -> Content:
    """What was done so far, one line each, and what came of it."""
    return _joined(_progress(making, say, Style(max(20, width))))


def _progress(making: Making, say: Speak, style: Style) -> Iterator[Content]:
    from doctor.apply.planshow import result_line

    told = [event for event in making.events if event.what in ("change", "verify", "putting back")]
    ended = sum(event.what == "done" for event in making.events)
    for index, event in enumerate(told):
        done = making.over.is_set() or index < len(told) - 1 or (event.what == "change" and ended == sum(one.what == "change" for one in told))
        text = say(f"event_{event.what}", subject=clean_line(event.subject), rule=event.rule)
        yield from _styled(style.lines(text, "      ", f"{say('fix_done' if done else 'fix_doing')}  "))
    for subject in making.back:
        yield from _styled(style.lines(say("fix_put_back", subject=clean_line(subject)), "      ", f"{say('fix_done')}  "))
    if not making.over.is_set():
        return
    if told or making.back:
        yield Content("")
    if making.problem is not None:
        yield from _styled(style.lines(sentence(making.problem, say), ""), WARNING)
    for one in making.applied:
        yield from _styled(style.lines(result_line(one, say), ""), TITLE)
        if one.outcome.value in ("fixed", "pending", "broken off"):
            yield from _styled(style.lines(say("fix_undo_with", transaction=one.transaction), ""))
    if making.undone:
        yield from _styled(style.lines(say("undone" if making.back else "undone_nothing", transaction=making.undone), ""), TITLE)
    for line in making.details:
        yield Content.styled(clean_line(line), DIFF_STYLES.get(line[:1], ""))


def outcome(making: Making, say: Speak) -> str:
    """What came of it in one line."""
    from doctor.apply.planshow import result_line

    if making.problem is not None:
        return sentence(making.problem, say)
    if making.undone:
        return say("undone" if making.back else "undone_nothing", transaction=making.undone)
    return " ".join(result_line(one, say) for one in making.applied)


def _folded(line: str, width: int) -> str:
    parts, now, used = [], "", 0
    for char in line:
        if used + cell_width(char) > width:
            parts.append(now)
            now, used = FOLD, len(FOLD)
        now, used = now + char, used + cell_width(char)
    return "\n".join([*parts, now])


def _styled(lines: Iterator[str], style: str = "") -> Iterator[Content]:
    return (Content.styled(line, style) for line in lines)


def _joined(lines: Iterator[Content]) -> Content:
    return Content("\n").join(list(lines))


__all__ = ["Pair", "PlanView", "fix_speaker", "outcome", "progress", "sentence", "steps_of"]
