"""The command line's entry: from arguments to standard output and an exit code.

Contract: standard output is the result and nothing else, standard error is talk. With `--json` standard output is one JSON object in
every case, errors included. Exit codes: 0 nothing at or above `--fail-on`; 1 something at or above it; 2 usage error; 3 doctor could
not do its work (a rule broke, an input could not be read to its end, or nothing could be looked at: each outweighs findings); 4 a fix was
not verified or was put back; 130 interrupted. A reader that goes away is no error.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from doctor import __version__
from doctor.completed import COMPLETE_VAR

TYPE_CHECKING = False  # as typing's, whose import takes as long as `--version` may
if TYPE_CHECKING:
    from doctor.tasks import Answer

USAGE, CANNOT, INTERRUPTED = 2, 3, 130

COLLECT = 50_000, 20, 50
"""When Python looks for cycles: rules and facts are many objects and hardly a cycle, and at its own thresholds it looks through them all again and again."""


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    given = sys.argv[1:] if arguments is None else arguments
    if "fix" in given or "undo" in given:
        _isolated(given)
    elif list(given) in ([], ["tui"]) and COMPLETE_VAR not in os.environ:
        _isolated_app(given)
    sys.exit(run(given))


def _isolated(arguments: Sequence[str]) -> None:
    """What changes a machine as root starts anew, out of reach of PYTHON*, LD_* and the current folder."""
    from doctor.apply.isolate import OthersCanChangeItError, isolate, wanted

    if wanted(arguments):
        try:
            isolate(arguments)
        except OthersCanChangeItError as problem:
            message = f"{problem} can be changed by others, so doctor does not run from there as root"
            sys.exit(_failed(arguments, "usage", message, USAGE))


def _isolated_app(arguments: Sequence[str]) -> None:
    """As `doctor.tasks.tui` isolates the app of root: here nothing has been loaded yet, which would be loaded twice."""
    if os.geteuid() != 0 or sys.flags.isolated:
        return
    from doctor.apply.isolate import OthersCanChangeItError, isolate
    from doctor.tui.terminal import why_not

    if not why_not():
        try:
            isolate(arguments)
        except OthersCanChangeItError:
            return  # the app says so


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and gives its exit code."""
    if list(arguments) == ["--version"]:
        return _put(f"ascend-doctor {__version__}\n", 0)  # before anything is imported
    if _asks_for_page(arguments):
        from doctor import pages

        if (page := pages.answer(arguments, os.environ, _language(arguments))) is not None:
            return _put(page, 0)
    gc.set_threshold(*COLLECT)
    as_json = "--json" in _before_dashes(arguments)
    try:
        answer = _answered(arguments, as_json)
    except KeyboardInterrupt:
        return _failed(arguments, "interrupted", "", INTERRUPTED)
    except Exception as problem:  # noqa: BLE001  a bug of ours is told in the format that was asked for
        if "-v" in arguments or "--verbose" in arguments:
            import traceback

            _talk(traceback.format_exc())
        return _failed(arguments, "internal", f"{type(problem).__name__}: {problem}", CANNOT)
    return answer if isinstance(answer, int) else _put(answer.text, answer.exit_code)


def _asks_for_page(arguments: Sequence[str]) -> bool:
    """Whether `doctor.pages` may know the answer: help, and what a shell asks."""
    return COMPLETE_VAR in os.environ or any(argument in arguments for argument in ("-h", "--help", "completion"))


def _answered(arguments: Sequence[str], as_json: bool) -> Answer | int:
    """The answer, or the exit code where all is said already. What anybody prints meanwhile (help, a rule's stray `print`) is caught."""
    import contextlib
    import io

    import click

    from doctor.commands import ROOMS, build, rooms_for

    language, asked = _language(arguments), _asks_for_page(arguments)
    group = build(language, ROOMS if asked else rooms_for(arguments))
    caught = io.BytesIO()
    printed = io.TextIOWrapper(caught, "utf-8", "replace", write_through=True)
    try:
        with contextlib.redirect_stdout(printed):
            answer = group.main(list(arguments), "doctor", COMPLETE_VAR, standalone_mode=False, obj=language)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as problem:
        command = (problem.ctx.info_name or "") + " " if problem.ctx and problem.ctx.parent else ""
        return _failed(arguments, "usage", problem.format_message(), USAGE, command)
    except SystemExit as end:  # what a shell asked for completion
        answer = end.code
    told: Answer | None = None if isinstance(answer, int | None) else answer  # every command returns one
    text = told.text if told else caught.getvalue().decode("utf-8", "replace")
    if asked and not as_json and not (told.exit_code if told else answer):
        from doctor import pages
        from doctor.commands.described import described

        pages.keep(arguments, os.environ, language, text, described(group))
    if told:
        return told
    if not as_json:
        return _put(text, answer or 0)
    from doctor.tasks import Options
    from doctor.tasks.common import output

    return output(Options("help", language, as_json=True), text)


def _before_dashes(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: list(arguments).index("--")] if "--" in arguments else arguments


def _language(arguments: Sequence[str]) -> str:
    """Before click has parsed anything, since its help and errors need it as well."""
    from doctor.locale import language

    asked = None
    for index, argument in enumerate(arguments):
        if argument == "--lang" and index + 1 < len(arguments):
            asked = arguments[index + 1]
        elif argument.startswith("--lang="):
            asked = argument.partition("=")[2]
    return language(asked, os.environ)


def _failed(arguments: Sequence[str], kind: str, why: str, code: int, command: str = "") -> int:
    """Tells an error on standard error, and with --json as an object on standard output too."""
    from doctor.locale import speaker
    from doctor.text import clean

    language = _language(arguments)
    speak = speaker(language)
    message = clean(speak(kind, why=why) if kind in ("internal", "interrupted") else why)
    _talk(f"doctor: {message}\n")
    if kind == "usage":
        _talk(speak("try_help", command=command) + "\n")
    if "--json" not in _before_dashes(arguments):
        return code
    from doctor.report.envelope import error

    return _put(error(kind, message, command.strip(), "", language, code), code)


def _put(text: str, code: int) -> int:
    """Writes the result, as UTF-8 where it is JSON or the locale has no say; a reader that went away is no error."""
    if sys.stdout is None:
        return code
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8" if text.startswith("{") else None, errors="replace")
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_rest()
    except OSError as problem:
        _discard_rest()
        _talk(f"doctor: {problem.strerror}\n")
        return CANNOT
    return code


def _discard_rest() -> None:
    """Python flushes standard output once more at its end: into nothing then."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _talk(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


__all__ = ["main", "run"]
