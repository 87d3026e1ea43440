"""Commands that look at a host: the check, the app, the recorder, the versions."""

from __future__ import annotations

import click

from doctor.commands.params import Register, files_param, host_params, live_params, log_param, profile_param, report_params
from doctor.locale import Speak


def add(register: Register, speak: Speak) -> None:
    host, logs, report, profile = host_params(speak), log_param(speak), report_params(speak), profile_param(speak)
    register("check", speak("help_check"), *host, logs, profile, *report)
    register("tui", speak("help_tui"), files_param(), *host, logs, *_app_options(speak))
    register("record", speak("help_record"), click.Argument(["folder"], metavar="DIR"), *live_params(speak), logs, *report)
    register("stack", speak("help_stack"), files_param(), *host)


def _app_options(speak: Speak) -> list[click.Parameter]:
    from doctor.tui.terminal import THEMES

    return [
        click.Option(["--theme"], type=click.Choice(THEMES), help=speak("help_theme")),
        click.Option(["--slow"], is_flag=True, help=speak("help_slow")),
        click.Option(["--ascii", "ascii_only"], is_flag=True, help=speak("help_ascii")),
        click.Option(["--read-only"], is_flag=True, help=speak("help_read_only")),
    ]
