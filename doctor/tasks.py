"""What each command does: from its options to its answer. Everything heavy is imported where it is used.

Contract: a task returns an `Answer`; it prints nothing on standard output. What a user asked wrongly is a `Refused` with the remedy.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doctor.locale import Speak, speaker
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.examine import Examination, Selection
    from doctor.host import Host
    from doctor.logscan.sources import Source
    from doctor.modelcheck import Checked
    from doctor.report.style import Style
    from doctor.rulebook import Rulebook


class Refused(click.UsageError):
    """A usage error: the text says what was wrong and what to do instead."""


@dataclass(frozen=True)
class Answer:
    """What goes to standard output, and the exit code."""

    text: str
    exit_code: int = 0


@dataclass(frozen=True)
class Options:
    """The options that all commands have. `detail`: -1 quiet, 0 ordinary, 1 verbose."""

    command: str
    language: str = "en"
    as_json: bool = False
    fail_on: str = "fail"
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    colour_allowed: bool = True
    timeout_scale: float = 1.0
    detail: int = 0
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))

    @property
    def speak(self) -> Speak:
        return speaker(self.language)

    @property
    def style(self) -> Style:
        """The style of standard output."""
        from doctor.report.style import Style

        terminal = sys.__stdout__ is not None and sys.__stdout__.isatty()
        return Style.of(os.environ, shutil.get_terminal_size().columns if terminal else 0, allowed=self.colour_allowed)


def check(options: Options, recorded: str | None, root: str | None, python: str | None, logs: Sequence[str]) -> Answer:
    """Looks at a host."""
    book = _rulebook()
    return _examined(options, book, _host(options, recorded, root), python, logs)


def tui(
    options: Options, files: Sequence[str], recorded: str | None, root: str | None, python: str | None, logs: Sequence[str], theme: str | None, slow: bool
) -> Answer:
    """Opens the app and stays in it until the user leaves."""
    from doctor.tui.terminal import LEAST_COLUMNS, LEAST_LINES, why_not

    if options.as_json:
        raise Refused(options.speak("tui_no_json"))
    if files and (recorded or root or python or logs):
        raise Refused(options.speak("text_and_host"))
    if "-" in (*files, *logs):
        raise Refused(options.speak("tui_no_stdin"))
    if reason := why_not():
        raise Refused(options.speak(reason, columns=LEAST_COLUMNS, lines=LEAST_LINES))
    from doctor.examine import Selection
    from doctor.tui.job import HostJob, Job, TextJob
    from doctor.tui.run import open_app

    asked = bool(options.only or options.skip)
    chosen = selection(options, _rulebook()) if asked else Selection()  # the rules are loaded behind the first paint
    job: Job
    if files:
        sources = tuple(_sources(files))
        job = TextJob(_label(sources, options.speak), sources, selection=chosen)
    else:
        job = HostJob(_host(options, recorded, root), chosen, python, tuple(_sources(logs)))
    open_app(job, chosen, language=options.language, theme=theme, slow=slow, colour=options.colour_allowed)
    return Answer("")


def record(options: Options, folder: str, root: str | None, python: str | None, logs: Sequence[str]) -> Answer:
    """Looks at a host and writes down what was seen."""
    from doctor.host.recording import FolderNotEmptyError, RecordingHost

    book = _rulebook()
    selection(options, book)
    host = _host(options, None, root)
    try:
        recording = RecordingHost(host, Path(folder))
    except FolderNotEmptyError:
        raise Refused(options.speak("not_empty", folder=folder)) from None
    except (OSError, ValueError) as problem:
        raise Refused(options.speak("not_a_folder", folder=folder, why=getattr(problem, "strerror", None) or problem)) from None
    return _examined(options, book, recording, python, logs, folder)


def _examined(options: Options, book: Rulebook, host: Host, python: str | None, logs: Sequence[str], folder: str = "") -> Answer:
    from doctor.examine import examine_host
    from doctor.logscan.sources import all_chunks
    from doctor.report.progress import Progress

    chosen, sources, problems = selection(options, book), _sources(logs), list[str]()
    with Progress(options.speak, options.detail) as progress:
        chunks = all_chunks(sources, problems, progress.read)
        examination = examine_host(host, book, chosen, python=python, chunks=chunks, heard=progress.heard)
    return _reported(options, chosen, examination, problems, folder, host)


def log(options: Options, files: Sequence[str]) -> Answer:
    """Looks at logs or a pasted report."""
    book = _rulebook()
    chosen = selection(options, book)
    problems: list[str] = []
    examination = _text(options, files, book, chosen, problems)
    return _reported(options, chosen, examination, problems)


def _text(options: Options, files: Sequence[str], book: Rulebook, chosen: Selection, problems: list[str]) -> Examination:
    from doctor.examine import examine_text
    from doctor.logscan.sources import all_chunks
    from doctor.report.progress import Progress

    sources = _sources(files)
    sizes = [source.size for source in sources]
    with Progress(options.speak, options.detail) as progress:
        chunks = all_chunks(sources, problems, progress.read)
        size = -1 if -1 in sizes else sum(sizes)
        return examine_text(_label(sources, options.speak), chunks, book, chosen, size, progress.heard)


def lint(
    options: Options, files: Sequence[str], words: Sequence[str], vllm_version: str | None, recorded: str | None, root: str | None, python: str | None
) -> Answer:
    """Judges commands that start vLLM, without running them."""
    from doctor.lint.choose import named_release
    from doctor.lint.examine import Input, examine_commands
    from doctor.report.progress import Progress

    if not files and not words:
        raise Refused(options.speak("lint_nothing"))
    if vllm_version is not None and named_release(vllm_version) is None:
        raise Refused(options.speak("lint_bad_version", version=vllm_version))
    book = _rulebook()
    chosen, problems = selection(options, book), list[str]()
    host = _host(options, recorded, root)
    with Progress(options.speak, options.detail) as progress:
        inputs = [Input(label, text) for label, text in _texts(options, files, problems, progress)]
        inputs += [Input(options.speak("lint_command_line"), words=tuple(clean(word) for word in words))] if words else []
        linted = examine_commands(inputs, host, book, chosen, python=python, version=vllm_version, heard=progress.heard)
    problems += [options.speak("lint_no_command", name=name) for name in linted.empty]
    return _reported(options, chosen, linted.examination, problems)


def _texts(options: Options, files: Sequence[str], problems: list[str], progress: Any) -> Iterator[tuple[str, str]]:
    """(name, text) of each file, as far as `TEXT_LIMIT`; what is cut off is told."""
    from doctor.lint.inputs import TEXT_LIMIT
    from doctor.logscan.sources import all_chunks

    read: dict[str, bytearray] = {}
    for source in _sources(files):
        kept = read.setdefault(source.label, bytearray())
        for chunk in all_chunks([source], problems, progress.read):
            if len(kept) + len(chunk.data) > TEXT_LIMIT:
                problems.append(options.speak("lint_too_long", name=source.label, megabytes=TEXT_LIMIT // 2**20))
                kept += chunk.data[: TEXT_LIMIT - len(kept)]
                break
            kept += chunk.data
    yield from ((label, data.decode("utf-8", "replace")) for label, data in read.items())


def _reported(
    options: Options, chosen: Selection, examination: Examination, problems: list[str], folder: str = "", host: object = None
) -> Answer:
    from doctor.report import model

    run = model.Run(options.command, options.started, options.language, chosen, options.fail_on)
    host_summary = model.summarise_host(examination)  # the last look at the host: what it asks is recorded as well
    if problem := getattr(host, "problem", ""):
        problems.append(problem)
    report = model.build(run, examination, host_summary, problems, shlex.quote(clean(folder)) if folder else "")
    if options.as_json:
        from doctor.report import json_format

        return Answer(json_format.render(report), report.exit_code)
    from doctor.report import text_format

    return Answer(text_format.render(report, options.style, options.detail), report.exit_code)


def model(
    options: Options, folder: str, hashing: bool, hbm: str | None, chip: str | None, recorded: str | None, root: str | None, python: str | None, **flags: Any
) -> Answer:
    """Looks at a model's folder: whether it is whole, and whether it fits."""
    from doctor.facts.model import Model, read_model
    from doctor.facts.number import size
    from doctor.modelcheck import command_of, examine_model, hashed
    from doctor.report.progress import Progress

    card = size(hbm)
    if hbm is not None and not card:
        raise Refused(options.speak("model_bad_size", size=clean(hbm)))
    host, book = _host(options, recorded, root), _rulebook()
    chosen = selection(options, book)
    path = folder if recorded or root else os.path.abspath(folder)
    given = {name.replace("_", "-"): "" if value is True else str(value) for name, value in flags.items() if value not in (None, False)}
    found = read_model(host, path.rstrip("/") or "/", command_of(path, given))
    if not isinstance(found, Model):
        raise Refused(options.speak("model_no_folder", folder=clean(path), why=clean(str(found.detail or found.why.value))))
    took = None
    if hashing:
        found, took = hashed(host, found, lambda name: click.echo(f"doctor: SHA-256 {clean(name)}", err=True) if options.detail >= 0 else None)
    with Progress(options.speak, options.detail) as progress:
        checked = examine_model(
            host, found, book, chosen, python=python, hbm_mb=card // 2**20 if card else None, chip=chip, hashing=took, heard=progress.heard
        )
    return _with_model(options, chosen, checked)


def _with_model(options: Options, chosen: Selection, checked: Checked) -> Answer:
    """The ordinary report, with the model's section."""
    import json

    from doctor.report.envelope import dumps
    from doctor.report.model_section import model_json, model_lines

    answer = _reported(options, chosen, checked.examination, [])
    if options.as_json:
        return Answer(dumps({**json.loads(answer.text), "model": model_json(checked)}), answer.exit_code)
    section = "" if options.detail < 0 and checked.hashing is None else "".join(line + "\n" for line in model_lines(checked, options.speak))
    return Answer(answer.text + section, answer.exit_code)


def explain(options: Options, name: str) -> Answer:
    """The page of a rule, of an error code, or of what old articles advise."""
    from doctor.errorcodes import explain as explain_code
    from doctor.report import page

    rules = _rulebook().rules
    name = name.strip()
    if name == "article":
        from doctor.report.article import article_page

        return _page(options, "article", name, article_page(options.language, options.style), [])
    if (rule := page.find_rule(name, rules)) is not None:
        return _page(options, "rule", rule.id, page.rule_page(rule, options.language, options.style), [rule.id])
    if " " in name:
        return _explained_line(options, name)
    entries = explain_code(name)
    codes = [entry.code for entry in entries] or ([name] if any(char.isdigit() for char in name) and len(name) > 3 else [])
    dealing = list(dict.fromkeys(found for code in codes for found in page.mentions(code, rules.values())))
    if not entries and not dealing:
        names = [*rules, *(former for rule in rules.values() for former in rule.formerly)]
        raise Refused(_with_nearest(options, options.speak("unknown_explain", name=name), page.nearest(name, names)))
    return _page(options, "code", name, page.code_page(entries, rules, dealing, options.language, options.style), dealing)


def _explained_line(options: Options, line: str) -> Answer:
    """What is known of one line of a log: a harmless kind, the rules that know it, the codes in it."""
    from doctor.errorcodes import find_codes, meanings
    from doctor.examine import Selection, examine_text
    from doctor.harmless import harmless
    from doctor.logscan.sources import text_chunk
    from doctor.report import page

    known, book = harmless(clean(line)), _rulebook()
    found = examine_text("", [text_chunk(line, "")], book, Selection(), len(line)).causes
    rules = [finding.rule for cause in found for finding in (cause.finding, *cause.symptoms)]
    codes = meanings(find_codes(clean(line)))
    if not known and not rules and not codes:
        raise Refused(options.speak("unknown_line"))
    return _page(options, "line", clean(line)[:200], page.line_page(known, codes, rules, book.rules, options.language, options.style), rules)


def _page(options: Options, kind: str, name: str, lines: Iterable[str], rules: list[str]) -> Answer:
    text = "".join(line + "\n" for line in lines)
    return _enveloped(options, page={"kind": kind, "name": name, "text": text, "rules": rules}) if options.as_json else Answer(text)


def rules(options: Options, fields: bool) -> Answer:
    """All rules, or all fields that conditions may name."""
    from doctor.fields import FIELDS
    from doctor.report import listing

    if fields:
        if options.as_json:
            return _enveloped(options, fields=[listing.field_json(spec) for spec in FIELDS.values()])
        return Answer("".join(line + "\n" for line in listing.field_lines(options.speak)))
    book = _rulebook()
    chosen = selection(options, book).chosen(book.rules.values())
    code = 3 if book.problems else 0
    for problem in book.problems:
        click.echo(f"doctor: {clean(problem.name)}: {clean(problem.why)}", err=True)
    if options.as_json:
        return _enveloped(options, code, rules=[listing.rule_json(rule, options.language) for rule in listing.in_order(chosen)])
    return Answer("".join(line + "\n" for line in listing.rule_lines(chosen, options.language, options.speak, options.style)), code)


def stack(options: Options, files: Sequence[str], recorded: str | None, root: str | None, python: str | None) -> Answer:
    """Which versions are there, and the nearest releases that fit together."""
    from doctor.examine import Selection, examine_host
    from doctor.rulebook import Rulebook
    from doctor.stack import Installed, judge_stack, render_stack, stack_json

    if files and (recorded or root or python):
        raise Refused(options.speak("text_and_host"))
    nothing = Rulebook({}, {})
    if files:
        examination = _text(options, files, nothing, Selection(), [])
    else:
        examination = examine_host(_host(options, recorded, root), nothing, Selection(), python=python)
    judged = judge_stack(Installed.from_facts(examination.facts))
    if options.as_json:
        return _enveloped(options, stack=stack_json(judged))
    return Answer(clean(render_stack(judged, options.language)).rstrip("\n") + "\n")


def schema(options: Options) -> Answer:
    """The JSON Schema; with or without --json it is one JSON object."""
    from doctor.report.schema import text

    return Answer(text())


def output(options: Options, text: str) -> Answer:
    """A text that is the same in every language, in the envelope where JSON is asked for."""
    return _enveloped(options, output=text) if options.as_json else Answer(text.rstrip("\n") + "\n")


def _enveloped(options: Options, exit_code: int = 0, **added: Any) -> Answer:
    from doctor.report.envelope import dumps, envelope

    return Answer(dumps(envelope(options.command, options.started, options.language, exit_code, **added)), exit_code)


def _rulebook() -> Rulebook:
    from doctor.rulebook import load

    return load()


def _host(options: Options, recorded: str | None, root: str | None) -> Host:
    if recorded is not None and root is not None:
        raise Refused(options.speak("from_and_root"))
    if recorded is not None:
        from doctor.host.recorded import NotAHost, open_host

        try:
            return open_host(Path(recorded))
        except (NotAHost, OSError, ValueError) as problem:
            raise Refused(clean(str(problem))) from None
    if root is not None and not os.path.isdir(root):
        raise Refused(options.speak("no_root", folder=clean(root)))
    from doctor.host.live import LiveHost

    return LiveHost(root or "/", options.timeout_scale)


def _sources(names: Sequence[str]) -> list[Source]:
    if not names:
        return []
    from doctor.logscan.sources import SourceError, open_sources

    try:
        return open_sources(names)
    except SourceError as problem:
        raise Refused(clean(str(problem))) from None


def _label(sources: Sequence[Source], speak: Speak) -> str:
    if len(sources) == 1:
        return sources[0].label
    names = ", ".join(source.label for source in sources[:3]) + (", …" if len(sources) > 3 else "")
    return speak("sources", count=len(sources), names=names)


def selection(options: Options, book: Rulebook) -> Selection:
    """The rules that were asked for. Raises `Refused` where a glob names nothing, or nothing is left."""
    from doctor.examine import Selection

    chosen = Selection(options.only, options.skip)
    names = {name for rule in book.rules.values() for name in (rule.id, rule.area, *rule.formerly)}
    for option, globs in (("--only", options.only), ("--skip", options.skip)):
        unknown = [glob for glob in globs if not any(fnmatchcase(name, glob) for name in names)]
        if unknown:
            from doctor.report.page import nearest

            message = options.speak("unknown_names", option=option, names=", ".join(unknown))
            raise Refused(_with_nearest(options, message, [near for glob in unknown for near in nearest(glob, names)]))
    if (options.only or options.skip) and not chosen.chosen(book.rules.values()):
        raise Refused(options.speak("nothing_left"))
    return chosen


def _with_nearest(options: Options, message: str, names: Sequence[str]) -> str:
    near = options.speak("nearest", names=", ".join(dict.fromkeys(names))) if names else options.speak("see_rules")
    return f"{clean(message)} {near}"
