"""The commands as plain data, for `doctor.completed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from doctor.commands.params import rule_names
from doctor.completed import RULES

if TYPE_CHECKING:
    from doctor.completed import Commands, Param


def described(group: click.Group) -> Commands:
    """Every command with its options and arguments, as click completes them."""
    context = click.Context(group)
    names = tuple((name, group.commands[name].get_short_help_str()) for name in group.list_commands(context))
    of_commands = {name: _params(group.commands[name], context) for name, _ in names}
    return {"names": names, "params": {"": _params(group, context), **of_commands}}


def _params(command: click.Command, context: click.Context) -> tuple[Param, ...]:
    return tuple(_param(param) for param in command.get_params(click.Context(command, parent=context)))


def _param(param: click.Parameter) -> Param:
    choices = tuple(str(choice) for choice in param.type.choices) if isinstance(param.type, click.Choice) else None
    return {
        "sets": param.name or "",
        "names": (*param.opts, *param.secondary_opts) if isinstance(param, click.Option) else (),
        "several": param.multiple if isinstance(param, click.Option) else param.nargs == -1,
        "valued": isinstance(param, click.Option) and not param.is_flag and not param.count,
        "hidden": isinstance(param, click.Option) and param.hidden,
        "help": (param.help or "") if isinstance(param, click.Option) else "",
        "choices": RULES if param._custom_shell_complete is rule_names else choices,
    }


__all__ = ["described"]
