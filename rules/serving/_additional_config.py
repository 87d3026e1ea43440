"""The keys of --additional-config, as they stand on a command line or in a Python call."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts.vllm import ServeCommand


def keys_of(command: ServeCommand) -> tuple[str, ...]:
    """Top-level keys of the additional configuration, as JSON or as a dict in Python."""
    return tuple(map(str, value_of(command)))


def inner_keys_of(command: ServeCommand) -> Iterator[tuple[str, str]]:
    """(key, key within its object) of those that are objects themselves."""
    for key, value in value_of(command).items():
        for inner in value if isinstance(value, dict) else ():
            yield str(key), str(inner)


def value_of(command: ServeCommand) -> Mapping[Any, Any]:
    """The additional configuration; empty where it is not given or cannot be read."""
    text = command.flags.get("additional-config") or command.keywords.get("additional_config") or ""
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return {}


def dotted_keys_of(command: ServeCommand) -> tuple[str, ...]:
    """Keys that are given as flags of their own: `--additional-config.some_key`."""
    return tuple(name.split(".")[1].replace("-", "_") for name in command.flags if name.startswith("additional-config."))
