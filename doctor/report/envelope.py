"""The envelope that every JSON output has, whatever the command, errors included.

Contract: what a command adds stands under a key of its own (`rules`, `page`, `stack`, `output`, `error`). All text is cleaned here
once more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from doctor import __version__
from doctor.text import clean

SCHEMA_VERSION = 1
"""Counts up when a key is renamed, removed, or changes its meaning; new keys do not change it."""


def dumps(value: Any) -> str:
    """One object as text, with a newline."""
    return json.dumps(_cleaned(value), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def envelope(command: str, started: str = "", language: str = "en", exit_code: int = 0, **added: Any) -> dict[str, Any]:
    """An output in which nothing was examined, with what the command adds."""
    run = {
        "command": command, "started": started, "seconds": 0.0, "language": language, "selection": {"only": [], "skip": []},
        "fail_on": "fail", "exit_code": exit_code, "problems": [],
    }  # fmt: skip
    counts = {"clear": 0, "found": 0, "skipped": 0, "broken": 0, "fail": 0, "warn": 0, "note": 0}
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ascend-doctor", "version": __version__},
        "run": run,
        "host": None,
        "summary": {"rules": 0, **counts, "causes": 0, "symptoms": 0},
        "causes": [],
        "verdicts": [],
        **added,
    }


def error(kind: str, message: str, command: str = "", started: str = "", language: str = "en", exit_code: int = 2) -> str:
    """The output where the work could not be done; `kind` is usage, interrupted or internal."""
    return dumps(envelope(command, started, language, exit_code, error={"kind": kind, "message": message}))
