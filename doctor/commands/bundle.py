"""Commands that carry what was seen to others: the bundle, the one-file collector, the ticket, the comparison."""

from __future__ import annotations

import click

from doctor.bundle.words import WORDS
from doctor.commands.params import Register, host_params, log_param
from doctor.locale import Speak, room_speaker


def add(register: Register, speak: Speak) -> None:
    say = room_speaker(WORDS, speak("language_code"))
    redaction = click.Option(["--profile", "redaction"], type=click.Choice(["support", "public", "raw"]), default="support", help=say("help_redaction"))
    file = click.Argument(["file"], required=False, metavar="[FILE]")
    include = click.Option(["--include", "included"], multiple=True, metavar="FILE", help=say("help_include"))
    register(
        "bundle",
        say("help_bundle"),
        file,
        click.Option(["--dry-run"], is_flag=True, help=say("help_dry_run")),
        click.Option(["--leave-out", "left_out"], multiple=True, metavar="ITEM", help=say("help_leave_out")),
        redaction,
        include,
        *host_params(speak),
        log_param(speak),
    )
    register("collect", say("help_collect"), click.Option(["--write", "file"], metavar="FILE", help=say("help_write")))
    form = click.Option(["--format", "form"], type=click.Choice(["markdown", "html"]), default="markdown", help=say("help_ticket_format"))
    register("ticket", say("help_ticket"), form, redaction, click.Option(["--write", "file"], metavar="FILE", help=say("help_write")), *host_params(speak), log_param(speak))
    register("diff", say("help_diff"), click.Argument(["sides"], nargs=-1, required=True, metavar="PLACE..."))
