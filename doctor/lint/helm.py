"""Helm charts as far as they can be read without Helm: templates with their braces left open, and engine arguments in values files. Pure.

What a template takes from values stands as an ellipsis, which is never judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts.kubernetes import container_start
from doctor.facts.run_command import RunCommand
from doctor.lint.shipped import all_flags

DEEPEST = 30
LISTS = ("args", "extraArgs", "extra_args", "extraargs", "engineArgs", "vllmArgs", "serverArgs", "command")
"""Keys of values files under which charts put words of vLLM's command line."""

MAPPINGS = ("vllmConfig", "engineConfig", "modelConfig")
"""Keys under which charts put engine arguments by name, in camel case: tensorParallelSize."""

_CONTROL = re.compile(r"^[ \t]*\{\{-?[^}]{0,400}\}\}[ \t]*$", re.MULTILINE)
_FILLED = re.compile(r"\{\{[^}]{0,400}\}\}")


def is_template(text: str) -> bool:
    """Whether parts of a text are filled in by Helm (or another engine with the same braces)."""
    return _FILLED.search(text) is not None and re.search(r"\{\{-?\s*(?:\.|if|range|with|include|toYaml|define|template|end)", text) is not None


def filled(text: str) -> str:
    """A template with its control lines blank and an ellipsis for each value, line by line as before; other texts as they are."""
    return _FILLED.sub("…", _CONTROL.sub("", text)) if is_template(text) else text


def starts_in_values(held: Any, source: str) -> Iterator[RunCommand]:
    """Commands of vLLM that a values file spells out, in the shape of a container start."""
    yield from _starts(held, source, "", 0)


def _starts(value: Any, source: str, image: str, depth: int) -> Iterator[RunCommand]:
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _starts(item, source, image, depth + 1)
    elif isinstance(value, dict):
        image = _image(value) or image
        words = _words(value)
        if words:
            container = {"image": image, "env": value.get("env"), "command": words}
            yield container_start(container, {}, source)
        for key, inner in value.items():
            if key not in (*LISTS, *MAPPINGS):
                yield from _starts(inner, source, image, depth + 1)


def _words(value: Mapping[str, Any]) -> list[str]:
    """The command line that one mapping of a values file spells out; [] where it is none of vLLM's."""
    words: list[str] = []
    for key, inner in value.items():
        if key in LISTS and isinstance(inner, list):
            words += [item for item in inner if isinstance(item, str)]
        elif key in MAPPINGS and isinstance(inner, dict):
            words += list(_named(inner))
            words += [item for part in LISTS for item in inner.get(part) or () if isinstance(inner.get(part), list) and isinstance(item, str)]
    flags = {word.partition("=")[0].lstrip("-").replace("_", "-") for word in words if word.startswith("--")}
    if not flags & all_flags():
        return []
    if any(word in ("serve", "vllm.entrypoints.openai.api_server") for word in words):
        return words
    model = value.get("modelURL") or value.get("model") or "…"
    return ["vllm", "serve", model if isinstance(model, str) and model else "…", *words]


def _named(given: Mapping[str, Any]) -> Iterator[str]:
    """`tensorParallelSize: 4` -> --tensor-parallel-size 4; what is no flag of vLLM is the chart's own."""
    for key, value in given.items():
        flag = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).lower().replace("_", "-")
        if flag in all_flags() and isinstance(value, str):
            if value == "true":
                yield f"--{flag}"
            elif value not in ("false", "", "null"):
                yield from (f"--{flag}", value)


def _image(value: Mapping[str, Any]) -> str:
    """`image: repo:tag`, or `image: {repository, tag}`, or `repository` beside `tag`."""
    image = value.get("image")
    held = image if isinstance(image, dict) else value
    if isinstance(image, str) and image:
        return image
    repository, tag = held.get("repository"), held.get("tag")
    if not isinstance(repository, str) or not repository:
        return ""
    return f"{repository}:{tag}" if isinstance(tag, str) and tag else repository
