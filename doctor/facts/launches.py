"""Serving commands that are written on a host but do not run: in scripts, units, compose files, manifests and the definitions of containers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from doctor.facts import Facts, known
from doctor.facts.container import RunCommand, RunCommands
from doctor.facts.serve_text import ServeCommand, find_commands, parse_command
from doctor.facts.start_files import FILE_LIMIT, launch_files, unit_variables
from doctor.host import Host
from doctor.regex import regex

_SHELL = regex(r"(?:ba|da|z)?sh")
_VLLM_IMAGE = regex(r"(?:^|/)(?:vllm|vllm-openai|vllm-ascend)(?:[:@]|$)")
_VARIABLE = regex(r"\$(?:\{(\w{1,80})\}|(\w{1,80}))", re.ASCII)
_UNIT = (".service", ".conf")


def written_commands(host: Host, facts: Facts) -> Iterator[ServeCommand]:
    """Every serving command of the start files, with the variables that its file or container sets."""
    seen: set[object] = set()
    here = (known(host.environ(0)) or {}).get("PWD", "")
    for command in (*_of_files(host, here), *_of_containers(facts)):
        told = (command.source, command.model, tuple(sorted(command.flags.items())))
        if command.flags and told in seen:
            continue  # `docker run … vllm serve …` is found as a command and as a container
        seen.add(told)
        yield with_config(host, command)


def _of_files(host: Host, here: str) -> Iterator[ServeCommand]:
    for path, text in launch_files(host, here):
        if path.endswith((".yaml", ".yml")):
            continue  # read word by word, as a container's definition
        variables = unit_variables(host, text) if path.endswith(_UNIT) else {}
        for command in find_commands(text, path):
            yield _with_variables(command, variables) if variables else command


def _with_variables(command: ServeCommand, variables: Mapping[str, str]) -> ServeCommand:
    known_ones = {**variables, **command.environment}
    words = tuple(_VARIABLE.sub(lambda match: known_ones.get(match[1] or match[2], match[0]), word) for word in command.argv)
    again = parse_command(words, command.source, command.line) if words != command.argv else None
    return replace(again or command, environment=known_ones)


def _of_containers(facts: Facts) -> Iterator[ServeCommand]:
    runs = known(facts.get(RunCommands))
    for run in runs.commands if runs else ():
        found = container_command(run)
        if found is not None:
            yield replace(found, environment={**run.environment, **found.environment})


def container_command(run: RunCommand) -> ServeCommand | None:
    """The serving command that a container runs: as words, behind `sh -c`, or as the arguments of an image whose entry point is `vllm serve`."""
    words = run.command
    if len(words) > 1 and _SHELL.fullmatch(posixpath.basename(words[0])) and words[1].startswith("-") and words[1].endswith("c"):
        return parse_command(" ".join(words[2:]), run.source, run.line)
    if words and words[0].startswith("--") and _VLLM_IMAGE.search((run.image or "").split(" ")[0]):
        words = ("vllm", "serve", *words)
    return parse_command(words, run.source, run.line)


def with_config(host: Host, command: ServeCommand) -> ServeCommand:
    """With the options of its `--config` file, which count where the command line does not give them."""
    path = command.flags.get("config", "")
    if not path.endswith((".yaml", ".yml")):
        return command
    folders = ("", posixpath.dirname(command.source) if command.source.startswith("/") else "/root")
    text = next((text for folder in folders if (place := posixpath.join(folder, path)).startswith("/") and isinstance(text := host.read(place, FILE_LIMIT), str)), None)
    told = _options(text) if text else {}
    return replace(command, flags={**told, **command.flags}, model=command.model or told.get("model")) if told else command


def _options(text: str) -> dict[str, str]:
    import json

    import yaml

    try:
        told = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - builds only text, lists and mappings
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    found: dict[str, str] = {}
    for name, value in told.items() if isinstance(told, dict) else ():
        if isinstance(name, str) and value != "false":
            found[name.replace("_", "-")] = "" if value in ("true", "True") else value if isinstance(value, str) else json.dumps(value)
    return found


__all__ = ["container_command", "with_config", "written_commands"]
