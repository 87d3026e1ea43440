"""The command that looks at many machines."""

from __future__ import annotations

import click

from doctor.commands.params import Register
from doctor.fleet.words import WORDS
from doctor.locale import Speak, room_speaker


def add(register: Register, speak: Speak) -> None:
    say = room_speaker(WORDS, speak("language_code"))
    register(
        "fleet",
        say("help_fleet"),
        click.Argument(["inventory"], required=False, metavar="[INVENTORY]"),
        click.Option(["--from", "places"], multiple=True, metavar="PLACE", help=say("help_from")),
        click.Option(["--keep"], metavar="DIR", help=say("help_keep")),
        click.Option(["--limit"], metavar="PATTERN", default="", help=say("help_limit")),
        click.Option(["--forks"], type=click.IntRange(1, 500), default=10, metavar="N", help=say("help_forks")),
        click.Option(["--become"], is_flag=True, help=say("help_become")),
        click.Option(["--ask-become-pass"], is_flag=True, help=say("help_ask")),
        click.Option(["--log", "logs"], multiple=True, metavar="PATH", help=say("help_log")),
        click.Option(["--mask"], type=click.Choice(["support", "public", "raw"]), default="support", help=say("help_mask")),
    )
