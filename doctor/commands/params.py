"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Protocol

import click
from click.shell_completion import CompletionItem

from doctor.locale import Speak

FORMATS = ("text", "json", "junit", "sarif", "github", "gitlab", "markdown", "html", "prometheus", "nagios", "tap")
"""As `doctor.report.formats.NAMES`, which is not imported for a help page."""

PROFILES = ("quick", "standard", "deep", "ci-image")
"""As `doctor.host.profiles.PROFILES`."""


class Register(Protocol):
    """Adds one command. `help_text` is in the user's language; `kind` is a click command with parsing of its own."""

    def __call__(self, name: str, help_text: str, *params: click.Parameter, kind: type[click.Command] = ...) -> None: ...


def host_params(speak: Speak) -> list[click.Parameter]:
    """Which host is looked at: a recording, a root mounted elsewhere, and the target's interpreter."""
    return [click.Option(["--from", "recorded"], metavar="SNAPSHOT", help=speak("help_from")), *live_params(speak)]


def live_params(speak: Speak) -> list[click.Parameter]:
    """As `host_params`, for commands that a recording cannot answer."""
    return [click.Option(["--root"], metavar="DIR", help=speak("help_root")), click.Option(["--python"], metavar="PATH", help=speak("help_python"))]


def log_param(speak: Speak) -> click.Parameter:
    """Logs that belong to the host."""
    return click.Option(["--log", "logs"], multiple=True, metavar="FILE", help=speak("help_logs"))


def report_params(speak: Speak) -> list[click.Parameter]:
    """How the report of an examination is written, for the commands that give one."""
    return [
        click.Option(["--format", "format"], type=click.Choice(FORMATS), default="text", help=speak("help_format")),
        click.Option(["--output", "outputs"], multiple=True, metavar="FORMAT=FILE", help=speak("help_output")),
        click.Option(["--baseline"], metavar="FILE", help=speak("help_baseline_option")),
        config_param(speak),
    ]


def config_param(speak: Speak) -> click.Parameter:
    """A site's configuration: see `doctor.config`."""
    return click.Option(["--config"], metavar="FILE", help=speak("help_config"))


def profile_param(speak: Speak) -> click.Parameter:
    """How closely a host is looked at."""
    return click.Option(["--profile"], type=click.Choice(PROFILES), default="standard", help=speak("help_profile"))


def files_param(metavar: str = "FILE...") -> click.Parameter:
    return click.Argument(["files"], nargs=-1, metavar=metavar)


def rule_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes ids of rules."""
    from doctor.rulebook import load

    return [CompletionItem(name) for name in sorted(load().rules) if name.startswith(incomplete)]


__all__ = ["FORMATS", "PROFILES", "Register", "config_param", "files_param", "host_params", "live_params", "log_param", "profile_param", "report_params", "rule_names"]
