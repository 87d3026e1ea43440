"""The commands and their options, as click sees them; what each of them does stands in `doctor.tasks`.

Contract: a command returns an `Answer` and prints nothing. Options may stand before the command, and without one the machine is checked.
A room's commands stand in one module with `add(register, speak)`; the command NAME is done by `doctor.tasks.NAME.run(options, **given)`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from doctor.commands.params import rule_names
from doctor.locale import Speak, speaker

if TYPE_CHECKING:
    from doctor.config import Config
    from doctor.tasks import Answer, Options

ROOMS = {
    "looking": ("check", "tui", "record", "stack"),
    "reading": ("log", "lint", "model"),
    "smoke": ("smoke",),
    "watch": ("watch",),
    "fixing": ("fix", "undo", "history"),
    "bundle": ("bundle", "collect", "ticket", "diff"),
    "fleet": ("fleet",),
    "sites": ("config", "baseline"),
    "program": ("explain", "rules", "schema", "completion"),
}
"""The modules of this package, with the commands that each adds: only the one that is asked for is made ready."""
FLAGS = ("--json", "--quiet", "-q", "--verbose", "-v", "--no-color")
"""Options of every command that take no value."""
DEFAULT, APP = "check", "tui"
FOR_APP = ("--slow", "--theme", "--ascii", "--read-only")
FOR_TEXT = ("--json", "--format", "--output", "--baseline", "--profile", "--quiet", "-q", "--verbose", "-v", "--fail-on")
"""Options that only the one or the other face has: where no command is named, they choose it."""

OF_THIS_MACHINE = ("python", "logs")
"""Options whose value in a configuration says nothing about a recording or another root."""

_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Doctor(click.Group):
    """A group whose commands' options may come first: `doctor --json log FILE` is `doctor log --json FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.arranged(ctx, args))

    def arranged(self, ctx: click.Context, args: Sequence[str]) -> list[str]:
        """The arguments with the command first; the face that fits where there is none and something else is asked than help or the version."""
        valued = {name for command in self.commands.values() for param in command.params for name in _valued(param)}
        index = 0
        while index < len(args) and args[index].startswith("-") and args[index] not in ("-", "--"):
            index += 2 if args[index] in valued else 1
        if index < len(args):
            return [args[index], *args[:index], *args[index + 1 :]] if args[index] in self.commands else list(args[index:])
        alone = [arg for arg in args if arg in ("-h", "--help", "--version")]
        return alone or (list(args) if ctx.resilient_parsing else [_face(args, speaker(ctx.obj)), *args])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as problem:
            if args and os.path.lexists(args[0]):
                raise click.UsageError(f"{problem.message} {speaker(ctx.obj)('try_log', name=args[0])}", ctx) from None
            raise


def _face(args: Sequence[str], speak: Speak) -> str:
    """The command where none is named: the app on a terminal that can carry it, else the text; why it cannot is told to whoever sits there."""
    names = {arg.partition("=")[0] for arg in args}
    if names & set(FOR_APP):
        return APP
    if names & set(FOR_TEXT):
        return DEFAULT
    from doctor.tui.terminal import LEAST_COLUMNS, LEAST_LINES, NO_TERMINAL, why_not

    reason = why_not()
    if reason and reason != NO_TERMINAL:
        click.echo("doctor: " + speak(reason, columns=LEAST_COLUMNS, lines=LEAST_LINES), err=True)
    return DEFAULT if reason else APP


def _valued(param: click.Parameter) -> list[str]:
    return param.opts if isinstance(param, click.Option) and not param.is_flag and not param.count else []


def rooms_for(arguments: Sequence[str]) -> Sequence[str]:
    """The module that has the command which is named; all of them where it takes more than a look to know which that is."""
    rest = [argument for argument in arguments if argument not in FLAGS]
    named = rest[0] if rest else DEFAULT
    return [room for room, names in ROOMS.items() if named in names] or list(ROOMS)


def build(language: str, rooms: Iterable[str] = tuple(ROOMS)) -> Doctor:
    """The commands of these modules, with their help in the language."""
    speak = speaker(language)

    def version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            from doctor import __version__

            click.echo(f"ascend-doctor {__version__}")
            ctx.exit()

    group = Doctor(
        "doctor",
        help=speak("help_doctor"),
        epilog=speak("help_epilog"),
        context_settings=_HELP,
        no_args_is_help=False,
        params=[click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=version, help=speak("help_version"))],
    )

    def register(name: str, help_text: str, *params: click.Parameter, kind: type[click.Command] = click.Command) -> None:
        def callback(**given: Any) -> Answer:
            config = _configured(given, speak) if "config" in given else None
            answer: Answer = import_module(f"doctor.tasks.{name}").run(_options(name, language, given, config), **given)
            return answer

        group.add_command(kind(name, callback=callback, help=help_text, short_help=help_text, params=[*params, *_common(speak)], context_settings=_HELP))

    for room in rooms:
        import_module(f"doctor.commands.{room}").add(register, speak)
    return group


def _common(speak: Speak) -> list[click.Parameter]:
    def scale(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
        if not (math.isfinite(value) and value > 0):
            raise click.BadParameter(speak("bad_scale"))
        return value

    def option(*names: str, **settings: Any) -> click.Option:
        return click.Option(list(names), **settings)

    return [
        option("--json", "as_json", is_flag=True, help=speak("help_json")),
        option("--fail-on", type=click.Choice(["fail", "warn", "note", "never"]), default="fail", help=speak("help_fail_on")),
        option("--only", multiple=True, metavar="GLOB", shell_complete=rule_names, help=speak("help_only")),
        option("--skip", multiple=True, metavar="GLOB", shell_complete=rule_names, help=speak("help_skip")),
        option("--lang", type=click.Choice(["en", "zh"]), help=speak("help_lang")),
        option("--no-color", is_flag=True, help=speak("help_no_color")),
        option("--timeout-scale", type=float, default=1.0, callback=scale, metavar="FACTOR", help=speak("help_timeout_scale")),
        option("--quiet", "-q", is_flag=True, help=speak("help_quiet")),
        option("-v", "--verbose", is_flag=True, help=speak("help_verbose")),
    ]


def _configured(given: dict[str, Any], speak: Speak) -> Config:
    """The site's configuration; what it says of options goes into `given` where the command line says nothing."""
    from doctor.tasks.configured import configuration

    config = configuration(given.pop("config"), speak)
    context, elsewhere = click.get_current_context(), given.get("recorded") or given.get("root")
    for name, value in config.options.items():
        told = context.get_parameter_source(name) in (None, ParameterSource.DEFAULT)
        if name in given and told and not (elsewhere and name in OF_THIS_MACHINE):
            given[name] = value
    return config


def _options(command: str, language: str, given: dict[str, Any], config: Config | None) -> Options:
    """Takes the common options out of `given`."""
    from doctor.tasks import Options
    from doctor.tasks.configured import output_files

    given.pop("lang")
    quiet, verbose = given.pop("quiet"), given.pop("verbose")
    form, as_json = given.pop("format", "text"), given.pop("as_json")
    if as_json and form not in ("text", "json"):
        raise click.UsageError(speaker(language)("format_and_json", name=form))
    return Options(
        command=command,
        language=language,
        as_json=as_json or form == "json",
        format="json" if as_json else form,
        outputs=output_files(given.pop("outputs", ()), speaker(language)),
        baseline=given.pop("baseline", None) or (config.baseline if config else None) or None,
        config=config,
        profile=given.pop("profile", "standard"),
        fail_on=given.pop("fail_on"),
        only=_split(given.pop("only")),
        skip=_split(given.pop("skip")),
        colour_allowed=not given.pop("no_color"),
        timeout_scale=given.pop("timeout_scale"),
        detail=-1 if quiet else 1 if verbose else 0,
    )


def _split(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
