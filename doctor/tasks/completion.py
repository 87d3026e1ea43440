"""`doctor completion`: the script that a shell sources."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from doctor.completed import COMPLETE_VAR
from doctor.tasks import Answer, Options
from doctor.tasks.common import output

PROGRAMS = ("doctor", "ascend-doctor")


def run(options: Options, shell: str) -> Answer:
    """The script for this shell, for both names of the program."""
    kind = get_completion_class(shell)
    assert kind is not None
    group = click.get_current_context().find_root().command
    return output(options, "\n".join(kind(group, {}, program, COMPLETE_VAR).source() for program in PROGRAMS))
