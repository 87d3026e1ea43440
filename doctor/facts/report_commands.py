"""Commands in a text: how vLLM was started, how its container was started, and the variables that both set."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.compose import parse_compose
from doctor.facts.container import Container, RunCommand, RunCommands
from doctor.facts.docker_run import parse_docker_runs
from doctor.facts.kubernetes import parse_kubernetes
from doctor.facts.report_blocks import ENVIRONMENT
from doctor.facts.report_text import Sightings, Strength, Text
from doctor.facts.vllm import ServeCommand, ServeCommands, find_commands, parse_command
from doctor.facts.yaml_words import word_lists
from doctor.regex import regex

MOST_STARTS = 50
"""Container starts that are read from one text."""

COMMAND_LINES = 121
COMPOSE_LINES = 400

LIST_LINES = 60
"""Lines from the start of a container's definition within which its command stands."""

_TOOL = regex(r"\b(?:docker|podman|nerdctl|isula)\b.{0,80}\brun\b")
_OBJECT = regex(r"\s{0,40}(?:apiVersion|kind)\s{0,4}:\s{0,4}[\w./-]{1,80}\s{0,40}$")
_VARIABLE = regex(r"\$(?:(\w{1,60})|\{(\w{1,60})(?::?-[^}]{0,200})?\})", re.ASCII)
_ASSIGNED = regex(r"""(?:export\s{1,4})?(\w{1,60})=["']?([\w./:@-]{3,300})""", re.ASCII)
_YAML_KEY = regex(r"[\w./\"'-]{1,80}\s{0,3}:(?:\s|$)|-\s|#|---\s*$")
_IN_CONTAINER = regex(r"\b\w{1,32}@[0-9a-f]{12}:")
"""A prompt whose host name is a container's id."""
_OVERLAY = regex(r"overlay\s.{0,120}%\s{1,4}/$")


def tell_commands(text: Text, told: Sightings) -> Iterator[object]:
    """The facts of commands; the variables that they set are told."""
    starts = [_with_image(text, start) for start in (*_docker_runs(text), *_compose_files(text), *_manifests(text))]
    if starts:
        yield RunCommands(tuple(starts), starts[0].source)
    for start in starts:
        for name, value in start.environment.items():
            told.tell(ENVIRONMENT + name, value, Strength.KEYED, _index(text, start.source, start.line))
    kind = _container_kind(text, starts)
    if kind is not None:
        yield Container(kind[0], source=text.place(kind[1])[0])
    yield from _serve_commands(text, told, starts)


def _with_image(text: Text, start: RunCommand) -> RunCommand:
    """With the image that the text gives a shell variable: `export IMAGE=quay.io/…`, then `docker run … $IMAGE`."""
    variable = _VARIABLE.fullmatch(start.image or "")
    if variable is None:
        return start
    name = (variable[1] or variable[2]).lower() + "="
    for at in text.having(name):
        line = text.lines[at].strip()
        assigned = _ASSIGNED.match(line)
        if assigned and assigned[1].lower() + "=" == name:
            return replace(start, image=assigned[2])
    return start


def _index(text: Text, source: str, line: int) -> int:
    try:
        return text.places.index((source, line))
    except ValueError:
        return 0


def _docker_runs(text: Text) -> Iterator[RunCommand]:
    after = 0
    for at in sorted(set(text.having("docker", "podman", "nerdctl", "isula")))[:MOST_STARTS]:
        if at < after or not _TOOL.search(text.lines[at][:600]):
            continue
        source, number = text.place(at)
        block = "\n".join(text.lines[at : at + COMMAND_LINES])
        found = [command for command in parse_docker_runs(block, source, number) if command.line == number]
        yield from found
        after = at + 1


def _compose_files(text: Text) -> Iterator[RunCommand]:
    for at in list(text.having("services:"))[:4]:
        if text.lines[at].strip() != "services:":
            continue
        source, number = text.place(at)
        for service in parse_compose(textwrap.dedent("\n".join(_indented(text, at))), source):
            yield replace(service, line=service.line + number - 1 if service.line else number)


def _manifests(text: Text) -> Iterator[RunCommand]:
    """Containers of Kubernetes objects: from `apiVersion:` or a `kind:` to the end of the document."""
    after = -1
    for at in sorted(set(text.having("apiversion:", "kind:")))[:MOST_STARTS]:
        if at <= after or not _OBJECT.match(text.lines[at]):
            continue
        source, number = text.place(at)
        block = list(_indented(text, at))
        after = at + len(block) - 1
        yield from parse_kubernetes(textwrap.dedent("\n".join(block)), source, number)


def _indented(text: Text, start: int) -> Iterator[str]:
    """The lines of a YAML document from here on, up to the fence or the sentence that ends it."""
    depth = len(text.lines[start]) - len(text.lines[start].lstrip())
    for at in range(start, min(start + COMPOSE_LINES, len(text.lines))):
        line = text.lines[at]
        inside = not line.strip() or len(line) - len(line.lstrip()) > depth or _YAML_KEY.match(line.lstrip())
        if not inside or line.lstrip().startswith("```"):
            return
        yield line


def _container_kind(text: Text, starts: list[RunCommand]) -> tuple[str, int] | None:
    """What the text says about the container that vLLM runs in, and on which line."""
    for at in text.having("kubectl ", "kubernetes.io/", "kind: pod", "kind: deployment"):
        return "kubernetes", at
    if starts:
        at = _index(text, starts[0].source, starts[0].line)
        return ("podman" if "podman" in text.lines[at] else "docker"), at
    for at in text.having("docker exec", "docker logs", "docker run"):
        return "docker", at
    for at in text.having("@"):
        if _IN_CONTAINER.search(text.lines[at][:200]):
            return "docker", at
    for at in text.having("overlay "):
        if _OVERLAY.match(text.lines[at].strip()[:300]):
            return "container", at
    return None


def _serve_commands(text: Text, told: Sightings, starts: list[RunCommand]) -> Iterator[object]:
    commands = []
    for command in find_commands(text.joined):
        at = min(max(command.line - 1, 0), len(text.lines) - 1)
        source, number = text.place(at)
        commands.append(replace(command, source=source, line=number))
    listed = tuple(_listed_commands(text, starts))
    commands = [command for command in commands if not _is_part(command, listed)]
    seen = {command.argv for command in commands}
    for command in listed:
        if command.argv not in seen:
            seen.add(command.argv)
            commands.append(command)
    for command in commands:
        for name, value in command.environment.items():
            told.tell(ENVIRONMENT + name, value, Strength.KEYED, _index(text, command.source, command.line))
    if commands:
        yield ServeCommands(tuple(commands), commands[0].source)


def _is_part(command: ServeCommand, listed: tuple[ServeCommand, ...]) -> bool:
    """Whether one line of a list was taken for a command of its own."""
    return not command.flags and any(
        whole.flags and whole.source == command.source and 0 <= command.line - whole.line <= LIST_LINES for whole in listed
    )


def _listed_commands(text: Text, starts: list[RunCommand]) -> Iterator[ServeCommand]:
    """Serving commands that a container's definition holds word by word."""
    for start in starts:
        found = parse_command(start.command, start.source, start.line)
        if found is not None:
            yield found
    for at, words in word_lists(text.lines, sorted({*text.having("command:"), *text.having("args:")})):
        source, number = text.place(at)
        found = parse_command(words, source, number)
        if found is not None:
            yield found
