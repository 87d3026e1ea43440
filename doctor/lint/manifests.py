"""YAML that starts vLLM: compose files, Kubernetes objects, and vLLM's own configuration files. Never raises.

Scalars are read as text with their lines. Size, number of nodes and depth are bounded, so that no file costs more than a moment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.facts.compose import parse_compose
from doctor.facts.container import RunCommand
from doctor.facts.kubernetes import HOLDERS, container_start
from doctor.facts.vllm import ServeCommand
from doctor.lint import helm
from doctor.lint.replaced import INVENTED
from doctor.lint.shipped import all_flags
from doctor.lint.starts import Start
from doctor.record import dataclass

if TYPE_CHECKING:
    from yaml import Node

LONGEST = 256 * 1024
"""Characters of a YAML text that are read; PyYAML's pure reader takes about a second for so many."""

MOST_NODES = 20_000
DEEPEST = 60
NPU_RESOURCES = re.compile(r"huawei\.com/(?:Ascend|npu)[\w.-]*", re.IGNORECASE)


@dataclass(frozen=True)
class Container:
    """A container of a Kubernetes object, in the shape of a container start; `cards` are the NPUs that it asks for."""

    run: RunCommand
    cards: int | None = None


@dataclass(frozen=True)
class Tree:
    """A mapping or list with the line of each of its keys (or items), counted from 1."""

    value: Mapping[str, Any] | Sequence[Any]
    lines: Mapping[str, int]
    line: int = 0


def read(text: str, source: str) -> Iterator[RunCommand | Container | Start]:
    """Everything in a YAML text that starts vLLM: services, containers, a configuration."""
    text = helm.filled(text[:LONGEST])
    for tree in _documents(text):
        if not isinstance(tree, Tree) or not isinstance(tree.value, Mapping):
            continue
        if "services" in tree.value:
            yield from _compose(text, source, tree)
        elif "kind" in tree.value or "spec" in tree.value:
            yield from _containers(tree, source, 0)
        elif is_configuration(tree.value):
            yield configuration(tree, source)
        else:
            yield from helm.starts_in_values(bare(tree), source)


def _documents(text: str) -> list[Any]:
    import yaml

    if _too_deep(text):
        return []
    found: list[Any] = []
    try:
        for node in yaml.compose_all(text, Loader=yaml.BaseLoader):
            found.append(_plain(node, [MOST_NODES], 0))
    except (yaml.YAMLError, RecursionError, ValueError, AttributeError):
        pass  # what came before the error is kept: a template's braces often stand further down
    return found


def _too_deep(text: str) -> bool:
    """Whether brackets nest so deeply that reading them is no use."""
    depth = deepest = 0
    for char in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if char in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > DEEPEST


def _plain(node: Node, left: list[int], depth: int) -> Any:
    """The node as text, `Tree` of mappings and lists; nothing beyond the bounds (anchors can be repeated without end)."""
    left[0] -= 1
    if node is None or left[0] < 0 or depth > DEEPEST:
        return ""
    if isinstance(node.value, str):
        return node.value
    line = node.start_mark.line + 1
    if not all(isinstance(item, tuple) for item in node.value):
        return Tree([_plain(item, left, depth + 1) for item in node.value], {}, line)
    found: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        name = key.value if isinstance(key.value, str) else ""
        plain = _plain(value, left, depth + 1)
        if name == "<<" and isinstance(plain, Tree) and isinstance(plain.value, Mapping):
            found = {**plain.value, **found}
        else:
            found[name], lines[name] = plain, key.start_mark.line + 1
    return Tree(found, lines, line)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value.value if isinstance(value, Tree) and isinstance(value.value, Mapping) else {}


def _words(value: Any) -> tuple[str, ...]:
    """`command` and `args`: a list of words, or one string."""
    if isinstance(value, str):
        from doctor.facts.shell_words import shell_commands

        return tuple(word for words in shell_commands(value)[:1] for word in words) if value.strip() else ()
    items = value.value if isinstance(value, Tree) and not isinstance(value.value, Mapping) else []
    return tuple(item for item in items if isinstance(item, str))


def _compose(text: str, source: str, tree: Tree) -> Iterator[RunCommand]:
    """The services as `parse_compose` reads them, with their entry points before the command and `$$` undone."""
    held = tree.value.get("services") if isinstance(tree.value, Mapping) else None
    services = _mapping(held)
    for run, (name, service) in zip(parse_compose(text, source), _built(services), strict=False):
        entry = _words(_mapping(service).get("entrypoint"))
        command = _words(_mapping(service).get("command"))
        words = tuple(word.replace("$$", "$") for word in (*entry, *command))
        line = held.lines.get(name, run.line) if isinstance(held, Tree) else run.line
        yield replace(run, command=words or run.command, line=line)


def _built(services: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((name, service) for name, service in services.items() if {"image", "build"} & set(_mapping(service)))


def _containers(value: Any, source: str, depth: int) -> Iterator[Container]:
    """Every container below, whatever kind of object holds it: a Pod, a Deployment, a List, a leader-worker set, a job of another operator."""
    if not isinstance(value, Tree) or depth > DEEPEST:
        return
    if not isinstance(value.value, Mapping):
        for item in value.value:
            yield from _containers(item, source, depth + 1)
        return
    for key, inner in value.value.items():
        if key in HOLDERS and isinstance(inner, Tree) and not isinstance(inner.value, Mapping):
            pod = {name: bare(value.value.get(name)) for name in ("volumes", "hostNetwork", "hostIPC", "securityContext")}
            yield from (_container(item, pod, source) for item in inner.value if isinstance(item, Tree) and isinstance(item.value, Mapping))
        else:
            yield from _containers(inner, source, depth + 1)


def bare(value: Any) -> Any:
    """Without the lines."""
    if not isinstance(value, Tree):
        return value
    if isinstance(value.value, Mapping):
        return {key: bare(item) for key, item in value.value.items()}
    return [bare(item) for item in value.value]


def _container(tree: Tree, pod: Mapping[str, Any], source: str) -> Container:
    held = _mapping(tree)
    words = {part: list(_words(held.get(part))) for part in ("command", "args")}
    line = tree.lines.get("command", tree.lines.get("args", tree.line))
    run = container_start({**bare(tree), **words}, pod, source, line)
    return Container(run, _cards(held))


def _cards(held: Mapping[str, Any]) -> int | None:
    resources = _mapping(held.get("resources"))
    for part in ("limits", "requests"):
        for name, value in _mapping(resources.get(part)).items():
            if NPU_RESOURCES.fullmatch(name) and isinstance(value, str) and re.fullmatch(r"\d{1,4}", value):
                return int(value)
    return None


def is_configuration(held: Mapping[str, Any]) -> bool:
    """Whether a mapping is a configuration for `vllm serve --config`: two of three of its keys at least are, or were thought to be, flags."""
    names = {key.replace("_", "-") for key in held}
    flags = names & (all_flags() | INVENTED.keys())
    return bool(flags - {"config", "help", "host", "port", "seed", "device"}) and 3 * len(flags) >= 2 * len(names)


def configuration(tree: Tree, source: str) -> Start:
    """The configuration as the words that vLLM makes of it: true is a bare flag, false nothing at all, objects are JSON."""
    words: list[str] = []
    lines: dict[str, int] = {}
    skipped: list[str] = []
    for key, value in _mapping(tree).items():
        flag = f"--{key}"
        lines[flag] = tree.lines.get(key, tree.line)
        if isinstance(value, str):
            if value.lower() in ("true", "yes", "on"):
                words.append(flag)
            elif value.lower() in ("false", "no", "off"):
                skipped.append(key)
            else:
                words += [flag, "None" if value in ("null", "~", "") else value]
        elif isinstance(value, Tree) and not isinstance(value.value, Mapping):
            words += [flag, *(item if isinstance(item, str) else json.dumps(_json(item)) for item in value.value)] if value.value else []
        else:
            words += [flag, json.dumps(_json(value), ensure_ascii=False)]
    command = ServeCommand(("vllm", "serve", *words), None, _as_flags(words), source=source, line=tree.line)
    return Start(command, tuple(words), True, how="config", lines=lines, skipped=tuple(skipped))


def _as_flags(words: Sequence[str]) -> dict[str, str]:
    from doctor.facts.serve_flags import parse_flags

    return parse_flags(words)[0]


def _json(value: Any) -> Any:
    """A tree as JSON data; words that YAML takes for other types become them."""
    if isinstance(value, Tree):
        if isinstance(value.value, Mapping):
            return {key: _json(item) for key, item in value.value.items()}
        return [_json(item) for item in value.value]
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return json.loads(value) if isinstance(value, str) and re.fullmatch(r"-?\d+(?:\.\d+)?", value) else value
    except ValueError:
        return value
