"""Serving commands in argument lists, shell texts, scripts, Markdown, logs and Python: what was run, or would be. Pure; never raises."""

from __future__ import annotations

import itertools
import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from doctor.facts.serve_flags import as_flags, balanced, parse_arguments, parse_dict, parse_flags, split_assignments
from doctor.facts.shell_words import shell_commands
from doctor.host import KIB
from doctor.record import dataclass
from doctor.regex import regex

MOST_COMMANDS = 200
MOST_MENTIONS = 5000
MOST_IN_LINE = 20
MOST_CALLS = 400
"""Lines, places in one of them, and Python calls that are looked at closely; only a hostile text has more."""

_COMMAND_LIMIT = 8 * KIB
_REGION_LIMIT = 64 * KIB
"""Characters before a command in which variables that it uses are looked for."""

_API_MODULE = regex(r"vllm\.entrypoints\.(?:openai\.)?(?:api_server|rpc\.server)|vllm\.entrypoints\.grpc_server")


@dataclass(frozen=True)
class ServeCommand:
    """One `vllm serve` (or api_server, or LLM(...)) command. `flags`: long name without dashes, `_` as `-` -> value, "" for a bare flag.

    `argv` is what was typed; ("LLM",) and the like for a call in Python, () where a log line tells the flags.
    """

    argv: tuple[str, ...]
    model: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    keywords: Mapping[str, str] = field(default_factory=dict)
    """Arguments of an LLM(…) or EngineArgs(…) call in Python."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set on the same command line."""
    pid: int | None = None
    source: str = ""
    line: int = 0


def first_argument(words: Sequence[str]) -> int | None:
    """Index of the first argument of a serving command (`vllm serve`, `-m vllm.entrypoints…api_server`); None for other commands."""
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if _API_MODULE.fullmatch(word) and before == "-m":
            return at + 1
        if word.endswith("vllm/entrypoints/openai/api_server.py"):
            return at + 1
        if word == "serve" and (posixpath.basename(before) == "vllm" or (before == "vllm.entrypoints.cli.main" and words[at - 2] == "-m")):
            return at + 1
    return None


def parse_command(command: Sequence[str] | str, source: str = "", line: int = 0, pid: int | None = None) -> ServeCommand | None:
    """The serving command in an argument list or a shell text (the first one, if there are several); None if there is none."""
    if not isinstance(command, str):
        return _from_words(tuple(command), source, line, pid, {})
    exported: dict[str, str] = {}
    for words in shell_commands(command):
        found = _from_words(words, source, line, pid, exported)
        if found is not None:
            return found
        values, rest = split_assignments(words)
        if not rest:
            exported.update(values)
    return None


def _from_words(words: tuple[str, ...], source: str, line: int, pid: int | None, exported: Mapping[str, str]) -> ServeCommand | None:
    words = (words[0].removeprefix("ExecStart="), *words[1:]) if words else words
    start = first_argument(words)
    if start is None:
        return None
    environment = {**exported, **_variables(words[:start])}
    argv = tuple(_expand(word, environment) for word in words)
    flags, positional = parse_flags(tuple(word for word in argv[start:] if word not in ("...", "…")))  # cut out by whoever shows the command
    is_module = any(_API_MODULE.fullmatch(word) for word in argv[:start])
    model = flags.get("model") or (positional[0] if positional and not is_module else None)
    return ServeCommand(argv, model, flags, environment=environment, pid=pid, source=source, line=line)


def _variables(words: Sequence[str]) -> dict[str, str]:
    """Variables set before the command: NAME=value words, and `-e NAME=value` of a container's start."""
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        name, equals, value = word.removeprefix("--env=").partition("=")
        leading = all("=" in before or before in ("env", "export", "sudo", "nohup", "exec", "time") for before in words[:at])
        if equals and re.fullmatch(r"[A-Za-z_]\w*", name) and (leading or word != name + "=" + value or words[at - 1] in ("-e", "--env")):
            found[name] = value
    return found


def _expand(word: str, environment: Mapping[str, str]) -> str:
    """Replaces $NAME and ${NAME} where the text itself sets NAME."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda m: environment.get(m[1] or m[2], m[0])[:_COMMAND_LIMIT], word) if "$" in word else word


_LITERALS = (
    "serve ", "serve\n", "serve\\", 'serve"', "serve'", "vllm.entrypoints", "vllm/entrypoints",
    "non-default args: {", "args: Namespace(", "LLM(", "EngineArgs(", "SamplingParams(",
)  # fmt: skip
"""A line that holds none of them shows no command: a log of many megabytes is searched for these only."""

_ANCHOR = regex(
    r"vllm[ \t]+serve\b|vllm['\"],\s*['\"]serve['\"]|vllm\.entrypoints\.cli\.main[ \t]+serve\b|vllm[./]entrypoints[./](?:openai[./])?api_server"
    r"|non-default args: \{|\bargs: Namespace\(|(?<![\w.])(?:vllm\.)?(?:LLM|EngineArgs|AsyncEngineArgs|SamplingParams)\("
)
_SETS = regex(
    r"^[ \t>]*(?:[$#+] )?(?:export[ \t]+|Environment=\"?|ENV[ \t]+)[A-Za-z_]\w*=[^\n]*|^[ \t]*[A-Za-z_]\w*=\S+[ \t]*$", re.MULTILINE
)
_DECORATION = "$#>%+*-&|;`\"'()[]"
_SHELL_LIKE = regex(
    r"|\d{1,3}\.|[\w.-]+:?[~/]|\S*@\S+|~|\w+=.*|.*/|(?:.*/)?python[\d.]*|m|command:|args:|CMD|ENTRYPOINT|ExecStart=.*"
    r"|sudo|nohup|exec|env|time|setsid|numactl|taskset|stdbuf|bash|sh|uv|run|screen|tmux|base|venv"
)
_WORD_LIMIT = 200
_LAUNCHERS = regex(r"\b(?:docker|podman|nerdctl|ctr|kubectl|srun|mpirun|ssh|bash|sh|su) ")
_MODEL_LIKE = regex(r"[-$./\\]|\S*[\d/_\\-]|<\w+>|\S*[^\x00-\x7f]*\$")
_NO_COMMAND = regex(r"usage:|[Rr]estart vllm serve")


def find_commands(text: str, source: str = "") -> tuple[ServeCommand, ...]:
    """Every serving command that a text shows: typed in a shell, in a script, Markdown or unit file, logged by vLLM, or called from Python."""
    exported: dict[str, str] = {}
    found: list[ServeCommand] = []
    done = read = line = calls = counted = 0
    for match, begin in _mentions(text):
        if match.start() < done or len(found) >= MOST_COMMANDS:
            continue
        line, counted = line + text.count("\n", counted, begin), begin
        if match.group().endswith(("(", "{")):
            calls += 1
            command, length = _from_python(text, match) if calls <= MOST_CALLS else None, 0
        else:
            exported.update(_variables_set(text[max(read, begin - _REGION_LIMIT) : begin]))
            read = begin
            command, length = _from_shell(text, begin, match, exported)
        if command is not None:
            done = begin + length
            found.append(replace(command, source=source, line=line + 1))
    return tuple(found)


def _mentions(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """(match, start of its line) of everything that looks like a command."""
    begins: set[int] = set()
    for literal in _LITERALS:
        at = text.find(literal)
        while at >= 0 and len(begins) < MOST_MENTIONS:
            begins.add(text.rfind("\n", 0, at) + 1)
            stop = text.find("\n", at)
            at = text.find(literal, stop) if stop >= 0 else -1
    for begin in sorted(begins):
        stop = text.find("\n", begin)
        for match in itertools.islice(_ANCHOR.finditer(text, begin, len(text) if stop < 0 else stop), MOST_IN_LINE):
            yield match, begin


def _variables_set(text: str) -> dict[str, str]:
    """Variables that lines of a script, a unit file or a Dockerfile set."""
    found: dict[str, str] = {}
    for match in _SETS.finditer(text):
        for words in shell_commands(re.sub(r"^[\s>$#+]+|Environment=|ENV[ \t]+", "", match.group())):
            found.update(split_assignments(words)[0])
    return found


def _from_python(text: str, match: re.Match[str]) -> ServeCommand | None:
    inside = balanced(text, match.end() - 1)
    if match.group().endswith("{"):
        flags = as_flags(parse_dict(inside))
        return ServeCommand((), flags.get("model") or flags.get("model-tag"), flags)
    positional, keywords = parse_arguments(inside)
    if "Namespace" in match.group():
        flags = as_flags({name: value for name, value in keywords.items() if name not in ("subparser", "dispatch_function")})
        return ServeCommand((), flags.get("model-tag") or flags.get("model"), flags) if flags else None
    if not positional and not keywords:
        return None
    name = match.group()[:-1].rpartition(".")[2]
    return ServeCommand((name,), keywords.get("model") or (positional[0] if positional and name == "LLM" else None), keywords=keywords)


def _from_shell(text: str, begin: int, match: re.Match[str], exported: Mapping[str, str]) -> tuple[ServeCommand | None, int]:
    """The command around the match, and how much of the text from `begin` on it takes."""
    before = text[max(begin, match.start() - _COMMAND_LIMIT) : match.start()]
    after = text[match.end() : match.end() + _COMMAND_LIMIT]
    if _NO_COMMAND.search(before + match.group()) or (after[:1] or " ") not in " \t\r\n\"'`,\\])":
        return None, 0
    if "," in match.group():
        return _from_list(match.group() + after.partition("\n")[0], exported), 0
    following = (after.split(maxsplit=1) or [""])[0].strip("`\"'")
    typed = all(_is_shell_like(word) for word in before.split()) or bool(_LAUNCHERS.search(before))
    if not (typed or _MODEL_LIKE.match(following)):
        return None, 0
    if typed and following.isalpha() and following.islower() and following in ("with", "and", "command", "is", "to", "on", "in", "for", "or", "as"):
        return None, 0
    head = _lines_above(text, begin) + before if typed else ""
    opened = head.rstrip()[-1:] if head.rstrip()[-1:] in "'\"`" else next((q for q in "\"'" if head.count(q) % 2), "")
    if opened:
        head, after = head.replace(opened, " "), _until(after, opened)
    head = re.sub(r"^[\s>]+", "", head)
    head = re.sub(r"^(?:\([\w.-]{1,80}\)\s{0,8})?(?:\[[^\]]{0,200}\]|[^\s@]{1,64}@\S{1,128})?\s{0,8}[$#%+]\s", "", head)
    head = re.sub(r"[|;&()`]|^\s*#\s", " ", head)
    module = "-m " if match.group().startswith("vllm.") and not head.rstrip().endswith("-m") else ""
    command = _logical(match.group() + after)
    for words in shell_commands(f"{head}{module}{command}")[:1]:
        return _from_words(words, "", 0, None, exported), match.start() - begin + len(command)
    return None, 0


def _is_shell_like(word: str) -> bool:
    """Whether a word before the command is a prompt, an assignment, a wrapper or a list mark, as opposed to prose."""
    return word.startswith("-") or (len(word) < _WORD_LIMIT and bool(_SHELL_LIKE.fullmatch(word.strip(_DECORATION))))


def _lines_above(text: str, begin: int) -> str:
    """Earlier lines that a backslash continues into the one at `begin`: `VAR=1 \\` or `docker run … \\`."""
    start = begin
    while start > 0 and begin - start < _COMMAND_LIMIT:
        previous = text.rfind("\n", 0, start - 1) + 1
        if not text[previous : start - 1].rstrip().endswith("\\"):
            break
        start = previous
    return re.sub(r"\\[ \t\r]*\n", " ", text[start:begin])


def _until(text: str, quote: str) -> str:
    stop = text.find(quote)
    return text if stop < 0 else text[:stop]


def _logical(text: str) -> str:
    """The text up to the first line end that is neither continued by a backslash nor within a quoted JSON value."""
    at, length = 0, len(text)
    while at < length:
        newline = text.find("\n", at)
        if newline < 0:
            return text
        line = text[:newline]
        if not line.rstrip().endswith("\\") and not ("'{" in line and line.count("'") % 2 and "}'" in text[newline:]):
            return line
        at = newline + 1
    return text


def _from_list(after: str, exported: Mapping[str, str]) -> ServeCommand | None:
    """`command: ["vllm", "serve", …]`: the words between the quotes."""
    start = '["' if after.startswith('vllm"') else "['"
    try:
        told = json.JSONDecoder().raw_decode(start + after)[0]
        words = tuple(str(word) for word in told)
    except (ValueError, RecursionError):
        words = tuple(double or single for double, single in re.findall(r"\"([^\"]*)\"|'([^']*)'", start[1:] + after))
    return _from_words(words, "", 0, None, exported)


def parse_python_call(text: str) -> dict[str, str]:
    """Keyword arguments of the first LLM(…), EngineArgs(…), AsyncEngineArgs(…) or SamplingParams(…) call in the text; {} without one."""
    return next((dict(command.keywords) for command in find_commands(text) if command.keywords), {})
