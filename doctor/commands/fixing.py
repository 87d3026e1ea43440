"""Commands that change a machine, and the one that tells what was changed."""

from __future__ import annotations

import click

from doctor.commands.params import Register, host_params, live_params, log_param, rule_names
from doctor.locale import Speak, room_speaker

FORMS = ("shell", "systemd", "dockerfile", "compose", "kubernetes")


def add(register: Register, speak: Speak) -> None:
    from doctor.apply.words import WORDS

    told = room_speaker(WORDS, speak("language_code"))
    root = live_params(speak)[0]
    register("fix", told("help_fix"), *_names(), *host_params(speak), log_param(speak), *_applying(told), *_choosing(told))
    register("undo", told("help_undo"), click.Argument(["transaction"], required=False, default="", metavar="[TRANSACTION]"), root)
    register("history", told("help_history"), root)


def _names() -> list[click.Parameter]:
    return [click.Argument(["names"], nargs=-1, metavar="[ID...]", shell_complete=rule_names)]


def _applying(told: Speak) -> list[click.Parameter]:
    return [
        click.Option(["--apply", "applying"], is_flag=True, help=told("help_apply")),
        click.Option(["--yes"], is_flag=True, help=told("help_yes")),
        click.Option(["--plan-hash"], default="", metavar="HASH", help=told("help_plan_hash")),
        click.Option(["--script"], default="", metavar="FILE", help=told("help_script")),
        click.Option(["--format", "script_format"], type=click.Choice(["sh", "ansible"]), default="sh", help=told("help_script_format")),
        click.Option(["--without"], multiple=True, metavar="[ID/]STEP", help=told("help_without")),
    ]


def _choosing(told: Speak) -> list[click.Parameter]:
    return [
        click.Option(["--form"], type=click.Choice(FORMS), help=told("help_form")),
        click.Option(["--to"], default="", metavar="FILE", help=told("help_to")),
        click.Option(["--unit"], default="", metavar="NAME", help=told("help_unit")),
        click.Option(["--package", "packages"], multiple=True, metavar="FILE", help=told("help_package")),
        click.Option(["--wheels"], default="", metavar="DIR", help=told("help_wheels")),
        click.Option(["--online"], is_flag=True, help=told("help_online")),
        click.Option(["--pid", "pids"], type=click.IntRange(min=2), multiple=True, metavar="N", help=told("help_pid")),
    ]
