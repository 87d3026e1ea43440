"""Finds the commands that start vLLM in what a user names: scripts, Python, YAML, manifests, units, or a command line itself.

Contract: pure; the kind is told by the content, a name's ending only helps; nothing in a text makes it raise.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from doctor.facts.container import RunCommand
from doctor.facts.docker_run import parse_docker_runs
from doctor.facts.serve_text import first_argument
from doctor.facts.vllm import ServeCommand, find_commands, parse_command
from doctor.lint import calls, manifests
from doctor.lint.modules import read_tree
from doctor.lint.starts import Start
from doctor.record import dataclass

TEXT_LIMIT = 4 * 1024 * 1024
"""Characters of one input that are read; scripts have a few thousand."""

MOST_STARTS = 200
MOST_VARIABLES = 500

_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_PLACEHOLDER = re.compile(r"`?<([A-Za-z][\w ./:-]{0,60})>`?")
MOST_FENCES = 400
_UNIT = re.compile(r"^[ \t]*\[(?:Unit|Service|Install)\][ \t]*$", re.MULTILINE)
_YAML = re.compile(r"\A(?:\s*#[^\n]*\n|\s*\n)*(?:---|(?:[\w.\"'-]+|- [\w.\"'-]+):(?:[ \t\n]|\Z))")
_SHELL = re.compile(r"^(?:#!|export\s|docker\s|vllm\s|python3?\s|nohup\s)", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """What one input holds: commands, container starts, variables by name with (value, line)."""

    starts: tuple[Start, ...] = ()
    runs: tuple[RunCommand, ...] = ()
    variables: Mapping[str, tuple[str, int]] = field(default_factory=dict)


def of_arguments(words: Sequence[str]) -> Found:
    """The command after `doctor lint --`: a vLLM command, one with variables before it, a container start, or a shell's -c text."""
    launcher = next((word for word in words if word.rpartition("/")[2] in ("docker", "podman", "nerdctl", "isula")), None)
    inner = next((word for word in words if " " in word and re.search(r"\bvllm\b", word) and not word.startswith("{")), None)
    start = first_argument(words)
    if launcher is not None and (start is None or words.index(launcher) < start):
        found = of_text(shlex.join(words), "", "shell")
    elif start is not None:
        command = parse_command(tuple(words), "")
        found = Found((_start(command, "argument", ()),)) if command is not None else Found()
    else:
        found = of_text(inner, "", "shell") if inner is not None else Found()
    return replace(found, starts=tuple(_without_place(start) for start in found.starts), runs=tuple(replace(run, line=0) for run in found.runs))


def _without_place(start: Start) -> Start:
    return replace(start, command=replace(start.command, line=0), text=())


def of_text(text: str, source: str, kind: str = "", read: Callable[[str], str | None] | None = None) -> Found:
    """The commands in a text. `kind`: shell, python, yaml or unit; "" to tell it by name and content. `read` gives files that a unit names."""
    text = text[:TEXT_LIMIT]
    kind = kind or kind_of(text, source)
    found: Found | None = None
    if kind == "python":
        found = _python(text, source)
    elif kind == "yaml":
        found = _yaml(text, source)
    elif kind == "unit":
        found = _unit(text, source, read or (lambda path: None))
    if found is None or not (found.starts or found.runs or kind == "python"):
        found = _shell(text, source)
    starts = found.starts[:MOST_STARTS]
    return replace(found, starts=starts, variables={**variables_of(replace(found, starts=starts), text), **found.variables})


def variables_of(found: Found, text: str = "") -> dict[str, tuple[str, int]]:
    """Variables of the commands and of the container starts, with the first line that names each."""
    values: dict[str, str] = {}
    for start in found.starts[:MOST_STARTS]:
        values.update(start.command.environment)
    for run in found.runs:
        values |= {name: value for name, value in run.environment.items() if name not in values}
    placed: dict[str, tuple[str, int]] = {}
    for name, value in list(values.items())[:MOST_VARIABLES]:
        at = re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", text)
        placed[name] = (value, text.count("\n", 0, at.start()) + 1 if at else 0)
    return placed


def kind_of(text: str, source: str) -> str:
    """What a text is: its name tells first, then its content."""
    name = source.rpartition("/")[2].lower()
    if name.endswith((".py", ".pyw")):
        return "python"
    if name.endswith((".service", ".socket", ".unit")) or _UNIT.search(text):
        return "unit"
    if name.endswith((".yaml", ".yml", ".json")):
        return "yaml"
    if name.endswith((".sh", ".bash", ".md", ".txt", ".log")) or name == "dockerfile":
        return "shell"
    if _YAML.match(text) and not _SHELL.search(text):
        return "yaml"
    return "python" if re.search(r"^(?:import|from)\s+\w", text, re.MULTILINE) and read_tree(text) is not None else "shell"


def _start(command: ServeCommand, how: str, lines: tuple[str, ...], run: RunCommand | None = None) -> Start:
    at = first_argument(command.argv)
    words = command.argv[at:] if at is not None else ()
    is_module = at is not None and command.argv[at - 1] != "serve"
    return Start(command, words, not is_module, run.image if run else None, cards_of(run) if run else None, lines, how)


def cards_of(run: RunCommand) -> int | None:
    """How many NPUs a container gets by its device list; None where it does not tell (privileged, or by a runtime)."""
    cards = {device for device in run.devices if re.fullmatch(r"/dev/davinci\d+", device)}
    return len(cards) if cards and not run.privileged else None


def _shell(text: str, source: str) -> Found:
    """The commands of a script; of Markdown, those of each block by itself: what one exports does not reach the next."""
    fences = [match.start() for match in itertools.islice(_FENCE.finditer(text), MOST_FENCES)]
    if len(fences) < 2:
        return _script(text, source)
    starts: list[Start] = []
    runs: list[RunCommand] = []
    lines = tuple(text.split("\n"))
    for begin, end in itertools.pairwise([0, *fences, len(text)]):
        part, before = _script(text[begin:end], source), text.count("\n", 0, begin)
        starts += [replace(start, text=lines, command=replace(start.command, line=start.command.line + before)) for start in part.starts]
        runs += [replace(run, line=run.line + before) for run in part.runs]
    return Found(tuple(starts), tuple(runs))


def _script(text: str, source: str) -> Found:
    lines = tuple(text.split("\n"))
    text = _PLACEHOLDER.sub(r"…\1…", text)  # a shell would take <port> for redirections
    commented = _COMMENT.sub("", text)
    runs = parse_docker_runs(commented, source)
    starts = [_start(command, "shell", lines) for command in find_commands(text, source) if _counts(command, lines)]
    for run in runs:
        start = of_container(run, lines)
        same = [at for at, one in enumerate(starts) if start is not None and one.image is None and one.words == start.words and one.command.line >= run.line]
        if start is not None and same:  # what the shell exported before does not reach the container
            starts[same[0]] = replace(start, command=replace(start.command, line=starts[same[0]].command.line))
        elif start is not None:
            starts.append(start)
    return Found(tuple(starts), tuple(runs))


def _counts(command: ServeCommand, lines: Sequence[str]) -> bool:
    """Whether it starts vLLM: a comment, or the parameters of a request, do not."""
    return command.argv[:1] != ("SamplingParams",) and not _is_comment(lines, command.line)


def _is_comment(lines: Sequence[str], number: int) -> bool:
    line = lines[number - 1].lstrip() if 0 < number <= len(lines) else ""
    return bool(re.match(r"#+\s*(?:vllm|python|docker|nohup|[A-Z_]+=)", line))


def of_container(run: RunCommand, lines: tuple[str, ...], how: str = "shell") -> Start | None:
    """The vLLM command that a container runs: its own words, those behind `bash -c`, or the arguments of an image that starts vLLM itself."""
    words = run.command
    command = parse_command(words, run.source, run.line)
    if command is None:
        inner = next((word for word in words if re.search(r"\bvllm\b", word) and (" " in word or "\n" in word)), None)
        command = parse_command(inner, run.source, run.line) if inner is not None else None
    if command is None and words and words[0].startswith("-") and re.search(r"vllm-openai", run.image or ""):
        command = parse_command(("python3", "-m", "vllm.entrypoints.openai.api_server", *words), run.source, run.line)
    if command is None:
        return None
    return _start(replace(command, environment={**run.environment, **command.environment}), how, lines, run)


def _python(text: str, source: str) -> Found | None:
    read = calls.read_calls(text, source)
    if read is None:
        return None
    lines = tuple(text.split("\n"))
    starts = [replace(start, text=lines) for start in read.starts]
    for line, inner in read.commands:
        for start in _shell(inner, source).starts:
            command = replace(start.command, line=line, environment={**read.environment, **start.command.environment})
            starts.append(replace(start, command=command, text=lines))
    return Found(tuple(starts), (), {name: (value, read.lines.get(name, 0)) for name, value in read.environment.items()})


def _yaml(text: str, source: str) -> Found | None:
    lines = tuple(text.split("\n"))
    starts: list[Start] = []
    runs: list[RunCommand] = []
    for item in manifests.read(text, source):
        if isinstance(item, RunCommand):
            runs.append(item)
            start = of_container(item, lines, "manifest")
            starts += [start] if start is not None else []
        elif isinstance(item, manifests.Container):
            runs.append(item.run)
            start = of_container(item.run, lines, "manifest")
            starts += [replace(start, cards=item.cards)] if start is not None else []
        else:
            starts.append(replace(item, text=lines))
    return Found(tuple(starts), tuple(runs)) if starts or runs else None


def _unit(text: str, source: str, read: Callable[[str], str | None]) -> Found | None:
    """A systemd unit: ExecStart with its prefixes, and the variables of every Environment= and EnvironmentFile= line."""
    environment: dict[str, str] = {}
    placed: dict[str, tuple[str, int]] = {}
    commands: list[tuple[int, str]] = []
    folder = ""
    lines = tuple(text.split("\n"))
    for number, line in _logical_lines(lines):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            continue
        if key in ("Environment", "EnvironmentFile"):
            told = _assignments(value) if key == "Environment" else _environment_file(read(value.removeprefix("-").strip("\"'")) or "")
            for name, given in told:
                environment[name], placed[name] = given, (given, number)
        elif key == "WorkingDirectory":
            folder = value.lstrip("-")
        elif key in ("ExecStart", "ExecStartPre", "ExecStartPost"):
            commands.append((number, re.sub(r"^[-@:+!|]+", "", value)))
    starts: list[Start] = []
    for number, words in commands:
        for start in _shell(_expanded(words, environment), source).starts:
            command = replace(start.command, source=source, line=number, environment={**environment, **start.command.environment})
            starts.append(replace(start, command=command, text=lines, how="unit", folder=folder))
    return Found(tuple(starts), (), placed) if starts else None


def _environment_file(text: str) -> Iterator[tuple[str, str]]:
    """The assignments of a file that `EnvironmentFile=` names: one a line, quotes taken off, comments left out."""
    for _, line in _logical_lines(text.split("\n")[:MOST_VARIABLES]):
        name, equals, value = line.strip().partition("=")
        if equals and re.fullmatch(r"[A-Za-z_]\w{0,200}", name):
            value = value.strip()
            yield name, value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _expanded(words: str, environment: Mapping[str, str]) -> str:
    """With `$NAME` and `${NAME}` as systemd fills them in; what the unit does not tell stays."""
    return re.sub(r"\$(?:\{(\w{1,200})\}|(\w{1,200}))", lambda found: environment.get(found[1] or found[2], found[0]), words)


def _logical_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(number, text) of every line, those that a backslash continues joined; comments left out."""
    first, parts = 0, list[str]()
    for number, line in enumerate(lines, 1):
        if not parts and line.lstrip().startswith(("#", ";")):
            continue
        first = first if parts else number
        parts.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\"):
            yield first, " ".join(parts)
            parts = []
    if parts:
        yield first, " ".join(parts)


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    for word in words:
        name, equals, value = word.partition("=")
        if equals and re.fullmatch(r"[A-Za-z_]\w*", name):
            yield name, value
