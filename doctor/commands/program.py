"""Commands about doctor itself: what it knows, and how shells and programs talk to it."""

from __future__ import annotations

import click

from doctor.commands.params import Register, rule_names
from doctor.locale import Speak


def add(register: Register, speak: Speak) -> None:
    register("explain", speak("help_explain"), click.Argument(["name"], metavar="ID|CODE", shell_complete=rule_names))
    register(
        "rules",
        speak("help_rules"),
        click.Option(["--fields"], is_flag=True, help=speak("help_fields")),
        click.Option(["--timings"], is_flag=True, help=speak("help_timings")),
    )
    register("schema", speak("help_schema"))
    register("completion", speak("help_completion"), click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])))
