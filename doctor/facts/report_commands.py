"""Commands in a text: how vLLM was started, how its container was started, and the variables that both set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.report_text import Sightings, Text
from doctor.facts.vllm import ServeCommands, find_commands


def tell_commands(text: Text, told: Sightings) -> Iterator[object]:
    """The facts of commands; the variables they set are told."""
    yield from _serve_commands(text, told)


def _serve_commands(text: Text, told: Sightings) -> Iterator[object]:
    commands = [replace(command, source=text.place(command.line - 1)[0], line=text.place(command.line - 1)[1]) for command in find_commands(text.joined)]
    if commands:
        yield ServeCommands(tuple(commands), commands[0].source)
