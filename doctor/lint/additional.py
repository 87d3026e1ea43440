"""`--additional-config` against the keys that the source of the installed vllm-ascend reads. Pure."""

from __future__ import annotations

import ast
import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts.plugin_keys import ConfigKeys, span
from doctor.finding import Confidence, Evidence, Hit
from doctor.lint.judge import Ruled
from doctor.lint.parse import Parsed, unfinished
from doctor.lint.starts import Start

UNKNOWN = "serving-additional-config-unknown-key"
REMOVED = "serving-additional-config-removed-key"
FLAG = "additional-config"
ALIKE = 0.75
"""Ratio of difflib from which a known key is taken for what was meant."""


def judge_keys(start: Start, parsed: Parsed, keys: ConfigKeys | None) -> Iterator[Ruled]:
    """Keys that the source does not read: dropped ones, and those that nearly are one of its own. Other plugins may read keys of their own."""
    if keys is None:
        return
    for key, value in _given(start, parsed).items():
        if key not in keys.top:
            near = difflib.get_close_matches(key, sorted(keys.top), 1, ALIKE)
            known = span(key)
            if known is not None:
                found = f"{key} in --{FLAG}; vllm-ascend had it up to {known[1]} ({keys.said})"
                yield _ruled(REMOVED, start, key, found, "no such key", replacement="-")
            elif near:
                yield _ruled(UNKNOWN, start, key, f"{key} in --{FLAG} is not in the source ({keys.said})", near[0], suggestion=near[0])
        names = keys.nested.get(key) if isinstance(value, dict) else None
        for inner in value if names is not None else ():
            if str(inner) not in (names or ()):
                near = difflib.get_close_matches(str(inner), sorted(names or ()), 1, ALIKE)
                found = f"{key}.{inner} in --{FLAG} is not in the source ({keys.said})"
                yield _ruled(UNKNOWN, start, f"{key}.{inner}", found, near[0] if near else "", suggestion=near[0] if near else "-")


def _given(start: Start, parsed: Parsed) -> Mapping[str, Any]:
    text = parsed.flags.get(FLAG) or start.command.keywords.get("additional_config") or ""
    if unfinished(text):
        return {}
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict):
            return {str(key): inner for key, inner in value.items()}
    return {}


def _ruled(rule: str, start: Start, key: str, found: str, wanted: str, **values: str) -> Ruled:
    line = start.line_of(key.rpartition(".")[2])
    evidence = (Evidence(start.command.source or "command line", f"--{FLAG} … {key}", line),)
    return Ruled(rule, Hit(key, found[:300], wanted[:300], evidence, Confidence.LIKELY, None, {"key": key, **values}))
