"""`command`: the file or command that starts vLLM, corrected and written beside the original, which stays as it is."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from doctor.apply.change import Change
from doctor.apply.filechange import FileChange, unified
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, missing_values, needs_root, text_of
from doctor.apply.plan import Effect, Needs, Note, StepPlan
from doctor.apply.serve_edit import Correction, corrected
from doctor.apply.serve_flags import with_flags
from doctor.facts.container import RunCommands
from doctor.facts.vllm import ServeCommands
from doctor.fix import CorrectCommand, unfilled
from doctor.lint.choose import Chooser
from doctor.text import clean_line
from doctor.words import Words


@dataclass(frozen=True)
class CorrectedFile(FileChange):
    """The new file, shown as what it changes of `original`."""

    KIND: ClassVar[str] = "corrected"

    original: str = ""
    source: str = ""
    """Path of the original."""

    def diff(self) -> str:
        return unified(self.original, self.after, self.path).replace(f"--- {self.path}", f"--- {self.source}", 1)

    def data(self) -> Mapping[str, Any]:
        return {**super().data(), "original": self.original, "source": self.source}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> CorrectedFile:
        plain = FileChange.of(data)
        return cls(plain.path, plain.before, plain.after, plain.mode, plain.then, str(data["original"]), str(data["source"]))


class EditCommandKind:
    action: type[Any] = CorrectCommand
    changes: tuple[type[Change], ...] = (CorrectedFile,)

    def plan(self, key: str, action: CorrectCommand, context: Context) -> StepPlan:
        title = Words("Write the corrected command beside the original", "在原文件旁写出更正后的启动命令")
        if why := missing_values(action):
            return blocked_step(key, action, title, why)
        chooser = Chooser(context.host, context.facts)
        changes: list[CorrectedFile] = []
        notes: list[Note] = []
        for path in _files(action, context):
            text = text_of(context.host, path)
            if not isinstance(text, str):
                notes += [Note(text)] if isinstance(text, Words) else []
                continue
            found = _corrected(action, text, path, chooser)
            notes += _notes(path, found)
            if found.text == text:
                continue
            beside = context.choices.to or beside_of(path)
            there = text_of(context.host, beside)
            if isinstance(there, Words):
                return blocked_step(key, action, title, there)
            change = CorrectedFile(beside, there, found.text, original=text, source=path)
            changes += [change] if not change.nothing else []
        if not changes and (commands := tuple(_running(action, context, chooser))):
            why = Words("the command stands in no file that doctor knows; this is the corrected one", "该命令不在 doctor 已知的文件中；更正后的命令如下")
            return blocked_step(key, action, title, why, commands)
        needs = Needs(root=any(needs_root(context, change.path) for change in changes), restart=())
        return StepPlan(key, action, title, tuple(changes), needs, effect=Effect.NEXT_START if changes else Effect.NOW, notes=tuple(notes))


def beside_of(path: str) -> str:
    """serve.sh -> serve.corrected.sh: the ending stays, for those who go by it."""
    folder, name = posixpath.split(path)
    stem, dot, ending = name.rpartition(".")
    return posixpath.join(folder, f"{stem}.corrected.{ending}" if dot and stem else f"{name}.corrected")


def _files(action: CorrectCommand, context: Context) -> Iterator[str]:
    """The file that is named, else those in which commands were found."""
    if action.file and not unfilled(action.file):
        yield action.file
        return
    serve, runs = context.fact(ServeCommands), context.fact(RunCommands)
    sources = [*(one.source for one in (serve.commands if serve else ())), *(one.source for one in (runs.commands if runs else ()))]
    yield from dict.fromkeys(source for source in sources if source.startswith("/") and ".corrected" not in posixpath.basename(source))


def _corrected(action: CorrectCommand, text: str, source: str, chooser: Chooser) -> Correction:
    """What the action names is set and dropped; without that, everything that is certainly wrong is corrected."""
    if action.set or action.drop:
        return with_flags(text, source, action.set, action.drop)
    return corrected(text, source, chooser.choose)


def _running(action: CorrectCommand, context: Context, chooser: Chooser) -> Iterator[str]:
    """Corrected commands of running processes, and of what a text showed."""
    serve = context.fact(ServeCommands)
    for command in serve.commands if serve else ():
        if not command.source.startswith("/"):
            line = shlex.join(command.argv)
            found = _corrected(action, line, "", chooser)
            if found.edits:
                yield clean_line(found.text)


def _notes(path: str, found: Correction) -> Iterator[Note]:
    for edit in found.edits:
        old, new, place = clean_line(edit.old), clean_line(edit.new), f"{clean_line(path)}:{edit.line}"
        yield Note(Words(f"{place}: {old or '(added)'} -> {new or '(left out)'}", f"{place}：{old or '（新增）'} -> {new or '（去掉）'}"))
    for told in found.open:
        shown = clean_line(told)
        yield Note(Words(f"{clean_line(path)}: for you to decide: {shown}", f"{clean_line(path)}：需自行决定：{shown}"))


KIND = EditCommandKind()
