"""Commands about what a site decided: its configuration, and the causes that it knows already."""

from __future__ import annotations

import click

from doctor.commands.params import Register, config_param, host_params, log_param, profile_param
from doctor.locale import Speak


def add(register: Register, speak: Speak) -> None:
    register("config", speak("help_config_command"), config_param(speak))
    action = click.Argument(["action"], type=click.Choice(["write"]))
    path = click.Argument(["path"], required=False, metavar="[FILE]")
    register("baseline", speak("help_baseline"), action, path, *host_params(speak), log_param(speak), profile_param(speak), config_param(speak))
