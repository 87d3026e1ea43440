"""Calls of LLM(…) and EngineArgs(…) in a Python file, by its syntax tree, with the variables and shell commands beside them. Never raises."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import field

from doctor.facts.vllm import ServeCommand
from doctor.lint.modules import read_tree
from doctor.lint.starts import Start
from doctor.record import dataclass

NAMES = frozenset({"LLM", "EngineArgs", "AsyncEngineArgs"})
MOST_NODES = 400_000
MOST_CALLS = 100


@dataclass(frozen=True)
class Calls:
    """`commands` are (line, text) of shell commands that the file would run; `lines` where each variable is set."""

    starts: tuple[Start, ...] = ()
    commands: tuple[tuple[int, str], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)


def read_calls(text: str, source: str) -> Calls | None:
    """What a Python file would start; None where it cannot be parsed."""
    tree = read_tree(text)
    if tree is None:
        return None
    names = set(NAMES)
    nodes: list[ast.AST] = []
    for count, node in enumerate(ast.walk(tree)):
        if count > MOST_NODES:
            break
        nodes.append(node)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "vllm":
            names |= {alias.asname for alias in node.names if alias.name in NAMES and alias.asname}
    environment: dict[str, str] = {}
    lines: dict[str, int] = {}
    for name, value, line in (item for node in nodes for item in _variables(node)):
        environment[name], lines[name] = value, line
    found = [_start(node, source, environment) for node in nodes if isinstance(node, ast.Call) and _called(node) in names]
    commands = [command for node in nodes if (command := _command(node)) is not None]
    return Calls(tuple(found[:MOST_CALLS]), tuple(commands[:MOST_CALLS]), environment, lines)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _start(node: ast.Call, source: str, environment: Mapping[str, str]) -> Start:
    keywords: dict[str, str] = {}
    lines: dict[str, int] = {}
    pairs = [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
    for keyword in node.keywords:
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):  # LLM(**{"a": 1})
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                pairs += [(key.value, value)] if isinstance(key, ast.Constant) and isinstance(key.value, str) else []
    for name, value in pairs:
        keywords[name] = _plain(value)
        lines[name] = value.lineno
    model = keywords.get("model") or (_plain(node.args[0]) if node.args else None)
    command = ServeCommand((_called(node),), model, keywords=keywords, environment=dict(environment), source=source, line=node.lineno)
    return Start(command, how="python", lines=lines)


def _plain(node: ast.expr) -> str:
    """The value as the command line would spell it; for what is not literal its source in <…>, which is never judged."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return f"<{type(node).__name__}>"
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        try:
            return json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return "<value>"
    return repr(value)


def _variables(node: ast.AST) -> Iterator[tuple[str, str, int]]:
    """`os.environ["X"] = "v"`, `os.environ.setdefault("X", "v")`, `os.putenv("X", "v")`."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
        if "environ" in ast.unparse(target.value)[-40:] and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            yield target.slice.value, _plain(node.value), node.lineno
    elif isinstance(node, ast.Call) and _called(node) in ("setdefault", "putenv") and len(node.args) == 2:
        first = node.args[0]
        environ = _called(node) == "putenv" or "environ" in ast.unparse(node.func)[-60:]
        if environ and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value, _plain(node.args[1]), node.lineno


def _command(node: ast.AST) -> tuple[int, str] | None:
    """A shell command given to subprocess or os.system: a list of words, or one string."""
    if isinstance(node, ast.List) and len(node.elts) > 1:
        words = [_plain(item) for item in node.elts]
        if any(word.rpartition("/")[2] == "vllm" or word.startswith("vllm.entrypoints") for word in words[:4]):
            import shlex

            return node.lineno, shlex.join(words)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "vllm" in node.value and len(node.value) < 20_000:
        text = node.value.strip()
        if text.startswith(("vllm serve ", "python -m vllm", "python3 -m vllm", "docker run ")) and "\n\n" not in text:
            return node.lineno, text
    return None
