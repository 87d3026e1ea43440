"""Keys of --additional-config that vllm-ascend refuses, or that are almost a key that it reads."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator

from doctor.facts import plugin_keys
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.rulepackage import data_text
from doctor.versions import Scheme, compare

from ._additional_config import inner_keys_of, keys_of


@functools.cache
def known_names() -> tuple[str, ...]:
    """Top-level keys of all releases of vllm-ascend, as of 2026-08-22."""
    return tuple(line for line in data_text("additional_config_keys.txt").split("\n") if line and not line.startswith("#"))


ALIKE, NEARLY_EQUAL = 0.75, 0.92
"""Ratios of difflib: worth suggesting for a key that was refused; taken for a slip in one that nobody refused."""


def judge(matches: Matches, commands: ServeCommands | None, packages: Packages | None) -> Iterator[Hit]:
    refused = matches["refused"]
    if refused:
        key = refused[0].groups.get("key", "")
        nearest = difflib.get_close_matches(key, known_names(), 1, ALIKE)
        yield Hit(
            found=refused[0].text[:200],
            evidence=(evidence_of(refused),),
            severity=Severity.FAIL,
            values={"key": key, "suggestion": nearest[0] if nearest else "-"},
            basis=Basis.LOG,
            position=refused[0].ordinal + 1,
        )
        return
    version = packages.versions.get("vllm-ascend", "") if packages else ""
    keys = plugin_keys.shipped_keys(version) if version else None
    for command in commands.commands if commands else ():
        yield from _untold(command) if keys is None else _by_release(command, keys, version)


def _untold(command: ServeCommand) -> Iterator[Hit]:
    """Where the release is not in the table only a slip is told."""
    for key in keys_of(command):
        nearest = [] if key in known_names() else difflib.get_close_matches(key, known_names(), 1, NEARLY_EQUAL)
        if nearest:
            yield _hit(command, key, f"{key} in --additional-config", nearest[0], Confidence.POSSIBLE)


def _by_release(command: ServeCommand, keys: plugin_keys.ConfigKeys, version: str) -> Iterator[Hit]:
    """Keys that this release does not read: of a later one, misspelt, or of nobody that doctor knows (which another plugin may read)."""
    for key in keys_of(command):
        if key in keys.top:
            continue
        known = plugin_keys.span(key)
        nearest = difflib.get_close_matches(key, sorted(keys.top), 1, ALIKE)
        if known is not None and compare(known[0], version, Scheme.PACKAGE) == 1:
            yield _hit(command, key, f"{key} in --additional-config: vllm-ascend reads it from {known[0]} on, not {version}", "", Confidence.LIKELY)
        elif known is None and key not in known_names() and nearest:
            yield _hit(command, key, f"{key} in --additional-config, which vllm-ascend {version} does not read", nearest[0], Confidence.LIKELY)
    for parent, key in inner_keys_of(command):
        names = keys.nested.get(parent)
        if names is not None and key not in names:
            nearest = difflib.get_close_matches(key, sorted(names), 1, ALIKE)
            found = f"{parent}.{key} in --additional-config, which vllm-ascend {version} does not read"
            yield _hit(command, f"{parent}.{key}", found, nearest[0] if nearest else "", Confidence.LIKELY)


def _hit(command: ServeCommand, key: str, found: str, suggestion: str, confidence: Confidence) -> Hit:
    return Hit(
        subject=key,
        found=found,
        wanted=suggestion,
        evidence=(Evidence(command.source, f"--additional-config … {key}", command.line),),
        confidence=confidence,
        values={"key": key, "suggestion": suggestion or "-"},
    )
